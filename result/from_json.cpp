// JSON → Result. The input may be anyone's: every type and range is checked, and the first thing wrong is
// told with its path.
#include "result/names.h"
#include "result/result.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>

namespace warplens {
namespace {

using Json = nlohmann::json;

/// A value and how one gets there, e.g. `kernels[0].sites[2].line`. The first error of a whole tree of nodes
/// is kept by their root; reads after it leave their targets alone, so that the code below can list the
/// fields without a check at each.
class Node {
public:
  Node(const Json& value, std::optional<Error>& error) : value_(&value), error_(&error) {}

  /// The required member, or a null node with the error set.
  Node operator[](const char* key) const {
    if (!expect(value_ && value_->is_object(), "an object"))
      return {};
    const auto found = value_->find(key);
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (found == value_->end()) {
      reject(fmt::format("{} is missing", path));
      return {};
    }
    return {*found, *error_, path};
  }

  bool has(const char* key) const {
    return expect(value_ && value_->is_object(), "an object") && value_->contains(key);
  }

  template <class Visit> void for_each(Visit visit) const {
    if (!expect(value_ && value_->is_array(), "an array"))
      return;
    for (std::size_t index = 0; index < value_->size() && sound(); ++index)
      visit(Node((*value_)[index], *error_, fmt::format("{}[{}]", path_, index)));
  }

  void read(std::string& target) const {
    if (expect(value_ && value_->is_string(), "a string"))
      target = value_->get_ref<const std::string&>();
  }

  void read(bool& target) const {
    if (expect(value_ && value_->is_boolean(), "true or false"))
      target = value_->get<bool>();
  }

  void read(double& target) const {
    if (expect(value_ && value_->is_number() && std::isfinite(value_->get<double>()), "a finite number"))
      target = value_->get<double>();
  }

  template <std::unsigned_integral Integer>
    requires(!std::same_as<Integer, bool>)
  void read(Integer& target) const {
    constexpr auto limit = std::numeric_limits<Integer>::max();
    const bool whole = value_ && value_->is_number_integer() &&
                       (value_->is_number_unsigned() || value_->get<std::int64_t>() >= 0);
    if (expect(whole && value_->get<std::uint64_t>() <= limit,
               fmt::format("a whole number from 0 to {}", limit)))
      target = static_cast<Integer>(value_->get<std::uint64_t>());
  }

  /// The site's identity: 16 hexadecimal digits.
  void read_identity(std::uint64_t& target) const {
    std::string text;
    read(text);
    if (!sound())
      return;
    std::uint64_t id = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
    if (expect(text.size() == 16 && problem == std::errc() && end == text.data() + text.size(),
               "16 hexadecimal digits"))
      target = id;
  }

  /// A word that `parse` knows.
  template <class Target, class Parse> void read_word(Target& target, Parse parse, const char* words) const {
    std::string text;
    read(text);
    if (!sound())
      return;
    const auto found = parse(text);
    if (expect(found.has_value(), words))
      target = *found;
  }

  void require(bool condition, const char* what) const { expect(condition, what); }
  bool sound() const { return error_ && !*error_; }

private:
  Node() = default;
  Node(const Json& value, std::optional<Error>& error, std::string path)
      : value_(&value), error_(&error), path_(std::move(path)) {}

  bool expect(bool condition, std::string_view what) const {
    if (sound() && !condition)
      reject(fmt::format("{} is not {}", path_.empty() ? "the top level" : path_, what));
    return sound() && condition;
  }

  void reject(const std::string& what) const {
    if (sound())
      *error_ = Error{fmt::format("not a {} document: {}", result_schema, what)};
  }

  const Json* value_ = nullptr;
  std::optional<Error>* error_ = nullptr;
  std::string path_;
};

template <class Number> void read_list(const Node& node, std::vector<Number>& target) {
  node.for_each([&](const Node& item) { item.read(target.emplace_back()); });
}

void read_pair(const Node& node, double (&target)[2]) {
  std::vector<double> values;
  read_list(node, values);
  node.require(values.size() == 2, "an array of two numbers");
  if (node.sound())
    std::copy(values.begin(), values.end(), target);
}

void read(const Node& node, Statistic& target) {
  node["mean"].read(target.mean);
  node["std"].read(target.std_deviation);
  read_pair(node["ci95"], target.ci95);
  read_pair(node["spread95"], target.spread95);
  const Node histogram = node["histogram"];
  read_list(histogram["edges"], target.histogram.edges);
  read_list(histogram["counts"], target.histogram.counts);
  const auto& [edges, counts] = target.histogram;
  histogram.require(edges.empty() ? counts.empty() : edges.size() == counts.size() + 1,
                    "a histogram with one edge more than counts");
  histogram.require(std::is_sorted(edges.begin(), edges.end()), "a histogram with ascending edges");
}

template <class Number> void read(const Node& node, Number& target) {
  node.read(target);
}

template <class Value> void read_if_there(const Node& node, const char* key, std::optional<Value>& target) {
  if (!node.has(key))
    return;
  Value value{};
  read(node[key], value);
  if (node.sound())
    target = std::move(value);
}

void read(const Node& node, trace::Dim3& target) {
  std::vector<std::uint32_t> values;
  read_list(node, values);
  node.require(values.size() == 3, "an array of three sizes");
  if (node.sound())
    target = {values[0], values[1], values[2]};
}

void read(const Node& node, SiteResult& target) {
  trace::Site& site = target.site;
  node["id"].read_identity(site.id);
  node["file"].read(site.file);
  node["line"].read(site.line);
  node["column"].read(site.column);
  node["expression"].read(site.expression);
  node["kind"].read_word(site.kind, access_kind_named, "load, store, update or atomic");
  node["space"].read_word(site.space, space_named, "global, shared, local, constant or generic");
  node["element_bytes"].read(site.element_bytes);
  if (node.has("object"))
    node["object"].read(site.object);
  if (node.has("cache_operator"))
    node["cache_operator"].read_word(site.cache_operator, cache_operator_named, "a PTX cache operator");
  if (node.has("sequence"))
    node["sequence"].read(site.sequence);
  if (node.has("depends_on"))
    node["depends_on"].for_each([&](const Node& id) { id.read_identity(site.depends_on.emplace_back()); });
  node["executions"].read(target.executions);
  node["active_lanes"].read(target.active_lanes);
  read_if_there(node, "sectors_per_request", target.sectors_per_request);
  read_if_there(node, "bytes_used", target.bytes_used);
  read_if_there(node, "bytes_moved", target.bytes_moved);
  read_if_there(node, "bank_conflicts", target.bank_conflicts);
  read_if_there(node, "l1_hit_rate", target.l1_hit_rate);
  read_if_there(node, "l2_hit_rate", target.l2_hit_rate);
  read_if_there(node, "latency_ns", target.latency_ns);
  read_if_there(node, "latency_share", target.latency_share);
}

void read(const Node& node, Totals& target) {
  read_if_there(node, "l1_read_hit_rate", target.l1_read_hit_rate);
  read_if_there(node, "l2_read_hit_rate", target.l2_read_hit_rate);
  read_if_there(node, "l2_write_hit_rate", target.l2_write_hit_rate);
  read_if_there(node, "dram_latency_ns", target.dram_latency_ns);
  read_if_there(node, "dram_read_bytes", target.dram_read_bytes);
  read_if_there(node, "dram_write_bytes", target.dram_write_bytes);
}

void read(const Node& node, KernelResult& target) {
  node["name"].read(target.name);
  node["gpu"].read(target.gpu);
  if (node.has("gpu_validated"))
    node["gpu_validated"].read(target.gpu_validated.emplace());
  read(node["grid"], target.grid);
  read(node["block"], target.block);
  if (node.has("launches"))
    node["launches"].read(target.launches);
  const Node occupancy = node["occupancy"];
  occupancy["blocks_per_sm"].read(target.occupancy.blocks_per_sm);
  occupancy["warps_per_sm"].read(target.occupancy.warps_per_sm);
  occupancy["limited_by"].read(target.occupancy.limited_by);
  const Node snapshot = node["snapshot"];
  snapshot["blocks"].read(target.snapshot.blocks);
  snapshot["warp_accesses"].read(target.snapshot.warp_accesses);
  snapshot["transactions"].read(target.snapshot.transactions);
  if (snapshot.has("complete"))
    snapshot["complete"].read(target.snapshot.complete);
  const Node trials = node["trials"];
  trials["run"].read(target.trials.run);
  trials["converged"].read(target.trials.converged);
  read(node["totals"], target.totals);
  node["sites"].for_each([&](const Node& site) { read(site, target.sites.emplace_back()); });
}

} // namespace

Expected<Result> result_from_json(const nlohmann::json& json) {
  std::optional<Error> error;
  const Node root(json, error);
  std::string schema;
  root["schema"].read(schema);
  if (!error && schema != result_schema) {
    // Escaped and short: the text may be anything, and the error goes to a terminal.
    const std::string shown = Json(schema.substr(0, 40)).dump(-1, ' ', true, Json::error_handler_t::replace);
    error = Error{fmt::format("not a {} document: schema is {}", result_schema, shown)};
  }

  Result result;
  root["program"].read(result.program);
  root["seed"].read(result.seed);
  if (root.has("trace_truncated"))
    root["trace_truncated"].read(result.trace_truncated);
  read_if_there(root["coverage"], "executed_accesses_probed", result.executed_accesses_probed);
  root["kernels"].for_each([&](const Node& kernel) { read(kernel, result.kernels.emplace_back()); });
  if (error)
    return tl::unexpected(*error);
  return result;
}

} // namespace warplens
