// JSON → Result. The input may be anyone's: every type and range is checked, and the error names the path of
// the first fault.
#include "result/code_json.h"
#include "result/events_json.h"
#include "result/facts.h"
#include "result/json_node.h"
#include "result/names.h"
#include "result/shares_json.h"
#include "result/timeline_json.h"

#include <algorithm>
#include <bit>
#include <span>

namespace warplens {
namespace {

void read_pair(const JsonNode& node, double (&target)[2]) {
  std::vector<double> values;
  read_list(node, values);
  node.require(values.size() == 2, "an array of two numbers");
  if (node.sound())
    std::copy(values.begin(), values.end(), target);
}

void read(const JsonNode& node, Histogram& target) {
  read_list(node["edges"], target.edges);
  read_list(node["counts"], target.counts);
  const auto& [edges, counts] = target;
  node.require(edges.empty() ? counts.empty() : edges.size() == counts.size() + 1,
               "a histogram with one edge more than counts");
  node.require(std::is_sorted(edges.begin(), edges.end()), "a histogram with ascending edges");
}

void read(const JsonNode& node, Statistic& target) {
  node["mean"].read(target.mean);
  node["std"].read(target.std_deviation);
  read_pair(node["ci95"], target.ci95);
  read_pair(node["spread95"], target.spread95);
  read(node["histogram"], target.histogram);
  if (!node.has("std_of_machine"))
    return;
  const JsonNode machine_deviation = node["std_of_machine"];
  machine_deviation.read(target.machine_deviation.emplace());
  machine_deviation.require(*target.machine_deviation >= 0 &&
                                *target.machine_deviation <= target.std_deviation * (1 + rounding),
                            "a number from 0 to std");
}

template <class Number> void read(const JsonNode& node, Number& target) {
  node.read(target);
}

void read(const JsonNode& node, ByMemoryEvent& target) {
  read_memory_events(node, target);
}

void read(const JsonNode& node, LatencyParts& target) {
  const auto read_part = [&](const char* name, double& part) {
    if (node.has(name))
      node[name].read(part);
  };
  read_part("l1_ns", target.l1_ns);
  read_part("l2_ns", target.l2_ns);
  read_part("dram_ns", target.dram_ns);
  read_part("shared_ns", target.shared_ns);
  read_part("constant_ns", target.constant_ns);
}

void read(const JsonNode& node, LatencyDistribution& target) {
  read(node, target.histogram);
  node["mode_ns"].read(target.mode_ns);
  node["mode_share"].read(target.mode_share);
}

void read(const JsonNode& node, L2Start& target) {
  node["warm"].read(target.warm);
  node["bytes"].read(target.bytes);
  node["why"].read(target.why);
}

void read(const JsonNode& node, ReuseDistance& target) {
  const JsonNode edges = node["edges"];
  read_list(edges, target.edges);
  edges.require(std::is_sorted(target.edges.begin(), target.edges.end()), "an array of ascending edges");
  read_list(node["counts"], target.counts, target.edges.empty() ? 0 : target.edges.size() - 1);
  node["cold"].read(target.cold);
}

void read(const JsonNode& node, CompiledKernel& target) {
  node["registers"].read(target.registers);
  if (!node.has("architecture"))
    return;
  node["architecture"].read_word(target.architecture, architecture_named, "an architecture like sm_80");
  node["assumed"].read(target.assumed);
  node["stack_bytes"].read(target.stack_bytes);
  node["spill_store_bytes"].read(target.spill_store_bytes);
  node["spill_load_bytes"].read(target.spill_load_bytes);
  node["shared_bytes"].read(target.shared_bytes);
}

/// Reads a statistic of values that are not negative.
void read_amount(const JsonNode& node, Statistic& target) {
  read(node, target);
  node.require(target.mean >= 0, "a statistic whose mean is 0 or more");
}

void read_share(const JsonNode& node, Statistic& target) {
  read(node, target);
  node.require(target.mean >= 0 && target.mean <= 1 + rounding, "a statistic whose mean is from 0 to 1");
}

void read(const JsonNode& node, LanePattern& target) {
  read_share(node["uniform"], target.uniform);
  read_share(node["regular"], target.regular);
  node["stride_bytes"].read(target.stride_bytes);
  read_share(node["misaligned"], target.misaligned);
  node["offset_bytes"].read(target.offset_bytes);
}

void read(const JsonNode& node, LaneRequest& target) {
  read_share(node["share"], target.share);
  node["parts"].read(target.parts);
  node["bytes"].read(target.bytes);
  node["bytes"].require(target.bytes >= 1 && target.bytes <= 128, "a number from 1 to 128");
  std::uint32_t active = 0;
  node["active"].read(active);
  node["active"].require(active != 0, "a mask of lanes");
  std::vector<std::uint64_t> offsets;
  read_list(node["offsets"], offsets, static_cast<std::size_t>(std::popcount(active)));
  if (!node.sound())
    return;
  std::size_t next = 0;
  for (std::size_t lane = 0; lane < target.offsets.size(); ++lane)
    if (active >> lane & 1) {
      node["offsets"].require(offsets[next] < std::uint64_t{1} << 53, "an array of numbers below 2^53");
      target.offsets[lane] = offsets[next++];
    }
}

void read(const JsonNode& node, Machine& target) {
  read_amount(node["dram_bytes_per_ns"], target.dram_bytes_per_ns);
  for (const auto& [key, reach] :
       {std::pair("reads_reach", &target.reads_reach), std::pair("copies_reach", &target.copies_reach)}) {
    read_share(node[key], *reach);
    node[key].require(*reach > 0, "a number above 0");
  }
  read_amount(node["l2_bytes_per_ns"], target.l2_bytes_per_ns);
  node["l2_bytes"].read(target.l2_bytes);
  node["schedulers"].read(target.schedulers);
  node["turnover_cycles"].read(target.turnover_cycles);
  SmResources& sm = target.sm;
  node["threads"].read(sm.threads);
  node["blocks"].read(sm.blocks);
  node["threads_per_block"].read(sm.threads_per_block);
  node["registers"].read(sm.registers);
  node["registers_per_block"].read(sm.registers_per_block);
  node["registers_per_thread"].read(sm.registers_per_thread);
  node["register_unit"].read(sm.register_unit);
  node["sub_partitions"].read(sm.sub_partitions);
  node["sub_partitions"].require(sm.sub_partitions > 0, "above 0");
  node["shared_bytes"].read(sm.shared_bytes);
  node["shared_per_block"].read(sm.shared_per_block);
  node["shared_reserved"].read(sm.shared_reserved);
  node["shared_unit"].read(sm.shared_unit);
}

void read(const JsonNode& node, KernelTime& target) {
  read_amount(node["cycles"], target.cycles);
  read_amount(node["microseconds"], target.microseconds);
  node["extrapolated"].read(target.is_extrapolated);
  if (node.has("launch_us")) {
    node["launch_us"].read(target.launch_us);
    node["launch_us"].require(target.launch_us >= 0, "at least 0");
  }
  read_shares<Resource>(node["busy"], target.busy);
  if (node.has("mean_busy"))
    read_shares<Resource>(node["mean_busy"], target.mean_busy);
  node["bound"].read_word(target.bound, bound_named, "the name of a resource or latency");
  if (node.has("bounds"))
    node["bounds"].for_each([&](const JsonNode& item) {
      BoundOfMachines& bound_time = target.bounds.emplace_back();
      item["bound"].read_word(bound_time.bound, bound_named, "the name of a resource or latency");
      item["trials"].read(bound_time.trials);
      read_amount(item["microseconds"], bound_time.microseconds);
    });
}

void read(const JsonNode& node, WarpTime& target) {
  node["resident"].read(target.resident);
  node["cycles_apart"].read(target.cycles_apart);
  read_shares<WarpState>(node["states"], target.states);
}

void read(const JsonNode& node, LineTime& target) {
  node["file"].read(target.file);
  node["line"].read(target.line);
  node["instructions"].read(target.instructions);
  read_shares<WarpState>(node["states"], target.states);
  node["awaited"].read(target.awaited);
  node["awaited"].require(target.awaited >= 0 && target.awaited <= 1 + rounding, "a number from 0 to 1");
  if (node.has("work"))
    read_kinds(node["work"], target.work.emplace());
}

void read(const JsonNode& node, CodeExecution& target) {
  node["blocks"].read(target.blocks);
  node["words"].read(target.words);
  node["different_words"].read(target.different_words);
  node["different_atomics"].read(target.different_atomics);
  node["largest_difference"].read(target.largest_difference);
  node.require(target.different_words <= target.words && target.different_atomics <= target.different_words,
               "an object whose words are at least those that differ");
}

void read(const JsonNode& node, ExecutedCode& target) {
  node["architecture"].read_word(target.architecture, architecture_named, "an architecture like sm_80");
  node["instructions"].read(target.instructions);
  if (node.has("matched_accesses")) {
    node["matched_accesses"].read(target.matched);
    node.require(target.matched >= 0 && target.matched <= 1,
                 "an object whose matched_accesses is from 0 to 1");
  }
  read_amount(node["per_cycle"], target.per_cycle);
  if (node.has("execution"))
    read(node["execution"], target.execution.emplace());
  if (node.has("inferred"))
    node["inferred"].read(target.inferred);
}

void read(const JsonNode& node, SiteTime& target) {
  read_amount(node["waited_cycles"], target.waited);
  if (node.has("waited_share")) {
    node["waited_share"].read(target.waited_share);
    node.require(target.waited_share >= 0 && target.waited_share <= 1 + rounding,
                 "an object whose waited_share is from 0 to 1");
  }
  read_shares<Resource>(node["occupied"], target.occupied);
  read_share(node["share"], target.share);
}

void read(const JsonNode& node, ErrorOfFigure& target) {
  node["mean_error"].read(target.mean);
  node["worst_error"].read(target.worst);
  node.require(target.mean >= 0 && target.mean <= target.worst,
               "an object whose mean_error is from 0 to worst_error");
}

void read(const JsonNode& node, KernelIdentity& target) {
  node["code"].read(target.code);
  node["work"].read(target.work);
  node["model"].read(target.model);
}

void read(const JsonNode& node, Accuracy& target);

template <class Value>
void read_if_there(const JsonNode& node, const char* key, std::optional<Value>& target) {
  if (!node.has(key))
    return;
  Value value{};
  read(node[key], value);
  if (node.sound())
    target = std::move(value);
}

/// Reads the fields of a table of facts: what can be absent from the result in memory can be so from the
/// JSON.
template <class Object, class Facts>
void read_facts(const JsonNode& node, Object& target, const Facts& facts) {
  for_each_fact(facts, [&]<class Fact>(const Fact& fact) {
    if constexpr (std::is_arithmetic_v<typename Fact::Value>)
      node[fact.name.data()].read(target.*Fact::member);
    else
      read_if_there(node, fact.name.data(), target.*Fact::member);
  });
}

void read(const JsonNode& node, trace::Dim3& target) {
  std::vector<std::uint32_t> values;
  read_list(node, values);
  node.require(values.size() == 3, "an array of three sizes");
  if (node.sound())
    target = {values[0], values[1], values[2]};
}

void read(const JsonNode& node, SiteResult& target) {
  Site& site = target.site;
  node["id"].read_identity(site.id);
  node["file"].read(site.file);
  node["line"].read(site.line);
  node["column"].read(site.column);
  node["expression"].read(site.expression);
  node["kind"].read_word(site.kind, value_named<AccessKind>, "load, store, update, atomic or barrier");
  node["space"].read_word(site.space, value_named<Space>, "global, shared, local, constant or generic");
  node["element_bytes"].read(site.element_bytes);
  if (node.has("object"))
    node["object"].read(site.object);
  if (node.has("waits"))
    node["waits"].read(site.waits);
  if (node.has("macro"))
    node["macro"].read(site.macro);
  if (node.has("template"))
    node["template"].read(site.in_template);
  if (node.has("cache_operator"))
    node["cache_operator"].read_word(site.cache_operator, value_named<CacheOperator>, "a PTX cache operator");
  if (node.has("sequence"))
    node["sequence"].read(site.sequence);
  if (node.has("depends_on"))
    node["depends_on"].for_each(
        [&](const JsonNode& id) { id.read_identity(site.depends_on.emplace_back()); });
  read_facts(node, target, site_facts);
}

void read(const JsonNode& node, Totals& target) {
  read_facts(node, target, total_facts);
  const std::optional<double>& cold = target.cold_miss_share;
  node.require(!cold || (*cold >= 0 && *cold <= 1), "an object whose cold_miss_share is from 0 to 1");
}

/// Reads one value for each of the trials, null if a trial had none.
void read_values(const JsonNode& node, const char* key, std::size_t trials, TrialValues::Values& target) {
  if (!node.has(key))
    return;
  const JsonNode list = node[key];
  list.for_each([&](const JsonNode& item) {
    std::optional<double>& value = target.emplace_back();
    if (!item.is_null())
      item.read(value.emplace());
  });
  list.require(target.size() == trials, "an array of one value per trial");
}

void read(const JsonNode& node, std::size_t trials, TrialValues& target) {
  for_each_fact(trial_facts, [&]<class Fact>(const Fact& fact) {
    read_values(node, fact.name.data(), trials, target.*Fact::member);
  });
}

void read(const JsonNode& node, ObjectResult& target) {
  node["name"].read(target.name);
  node["requests"].read(target.requests);
  node["footprint_bytes"].read(target.footprint_bytes);
  read_if_there(node, "block_footprint_bytes", target.block_footprint_bytes);
  node["bytes_used"].read(target.bytes_used);
  node["bytes_moved"].read(target.bytes_moved);
  read_if_there(node, "reuse_distance", target.reuse_distance);
}

void read(const JsonNode& node, ErrorOfKind& target) {
  node["within"].read(target.within);
  node["within"].require(target.within >= 0, "a number that is not below 0");
  node["launches"].read(target.launches);
  node["measured_on"].read(target.measured_on);
  node["of_any_kind"].read(target.covers_all_kinds);
}

void read(const JsonNode& node, Accuracy& target) {
  node["gpu"].read(target.gpu);
  node["launches"].read(target.launches);
  node["kernels"].read(target.kernels);
  read_if_there(node, "time", target.time);
  read_if_there(node, "l1_read_hit_rate", target.l1_read_hit_rate);
  read_if_there(node, "l2_read_hit_rate", target.l2_read_hit_rate);
  if (node.has("time_by_kind"))
    for (std::size_t kind = 0; kind < launch_kinds; ++kind)
      if (const char* const name = name_of(LaunchKind(kind)).data(); node["time_by_kind"].has(name))
        read(node["time_by_kind"][name], target.time_by_kind[kind].emplace());
  node["without"].for_each([&](const JsonNode& text) { text.read(target.without.emplace_back()); });
  node["date"].read(target.date);
}

void read(const JsonNode& node, KernelResult& target) {
  node["name"].read(target.name);
  node["gpu"].read(target.gpu);
  if (node.has("sm_clock_mhz")) {
    node["sm_clock_mhz"].read(target.sm_clock_mhz);
    node["sm_clock_mhz"].require(target.sm_clock_mhz > 0, "a number above 0");
  }
  read_if_there(node, "accuracy", target.accuracy);
  read(node["grid"], target.grid);
  read(node["block"], target.block);
  if (node.has("launches"))
    node["launches"].read(target.launches);
  if (node.has("launches_of_kernel")) {
    node["launches_of_kernel"].read(target.launches_of_kernel);
    node["times_this_launch"].read(target.times_this_launch);
    node["times_this_launch"].require(target.times_this_launch >= 0, "a number of at least 0");
    node["launch"].read(target.launch);
  }
  const JsonNode occupancy = node["occupancy"];
  occupancy["blocks_per_sm"].read(target.occupancy.blocks_per_sm);
  occupancy["warps_per_sm"].read(target.occupancy.warps_per_sm);
  occupancy["limited_by"].read(target.occupancy.limited_by);
  if (occupancy.has("sms"))
    occupancy["sms"].read(target.occupancy.sms);
  if (occupancy.has("shared_bytes"))
    occupancy["shared_bytes"].read(target.occupancy.shared_bytes);
  read_if_there(node, "machine", target.machine);
  read_if_there(node, "compiled", target.compiled);
  read_if_there(node, "identity", target.identity);
  const JsonNode snapshot = node["snapshot"];
  snapshot["blocks"].read(target.snapshot.blocks);
  snapshot["warp_accesses"].read(target.snapshot.warp_accesses);
  snapshot["transactions"].read(target.snapshot.transactions);
  if (snapshot.has("complete"))
    snapshot["complete"].read(target.snapshot.complete);
  if (snapshot.has("limit"))
    snapshot["limit"].read(target.snapshot.limit);
  if (snapshot.has("windows"))
    snapshot["windows"].for_each([&](const JsonNode& window) {
      trace::BlockWindow& read = target.snapshot.windows.emplace_back();
      window["first"].read(read.first);
      window["blocks"].read(read.blocks);
      window["stands_for"].read(read.stands_for);
    });
  const JsonNode trials = node["trials"];
  trials["run"].read(target.trials.run);
  trials["converged"].read(target.trials.converged);
  if (trials.has("stopped_by"))
    trials["stopped_by"].read_word(target.trials.stopped_by, value_named<StoppedBy>,
                                   "confidence, limit or request");
  if (trials.has("divisor"))
    trials["divisor"].read(target.trials.divisor);
  if (trials.has("drawn"))
    trials["drawn"].for_each([&](const JsonNode& path) { path.read(target.trials.drawn.emplace_back()); });
  read_if_there(node, "l2_start", target.l2_start);
  read_if_there(node, "time", target.time);
  if (node.has("time_unknown"))
    node["time_unknown"].read(target.time_unknown);
  read_if_there(node, "warps", target.warps);
  if (node.has("lines"))
    node["lines"].for_each([&](const JsonNode& line) { read(line, target.lines.emplace_back()); });
  read_if_there(node, "executed", target.executed);
  if (node.has("code"))
    read_code(node["code"], target.code.emplace());
  if (node.has("code_unknown"))
    node["code_unknown"].read(target.code_unknown);
  if (node.has("events"))
    read_events(node["events"], target.events.emplace());
  if (node.has("sharing"))
    read_sharing_profile(node["sharing"], target.sharing.emplace());
  read(node["totals"], target.totals);
  if (node.has("trial_values"))
    read(node["trial_values"], target.trials.run, target.trial_values);
  node["sites"].for_each([&](const JsonNode& site) { read(site, target.sites.emplace_back()); });
  if (node.has("objects"))
    node["objects"].for_each([&](const JsonNode& object) { read(object, target.objects.emplace_back()); });
  if (node.has("timeline"))
    read_timeline(node["timeline"], target.timeline.emplace());
}

} // namespace

/// Reads the files of a manifest.
static void read_files(const JsonNode& node, std::vector<NamedHash>& target) {
  node.for_each([&](const JsonNode& item) {
    NamedHash& file = target.emplace_back();
    item["name"].read(file.name);
    item["xxh64"].read_identity(file.hash);
  });
}

static void read(const JsonNode& node, Manifest& target) {
  node["warplens"].read(target.version);
  read_files(node["sources"], target.sources);
  node["nvcc"].read(target.nvcc);
  read_files(node["gpus"], target.gpus);
  if (node.has("arguments"))
    node["arguments"].read(target.arguments);
  if (node.has("toolkit"))
    node["toolkit"].read(target.toolkit);
}

Expected<Result> result_from_json(const nlohmann::json& json) {
  std::optional<Error> error;
  const JsonNode root(json, error);
  std::string schema;
  root["schema"].read(schema);
  if (!error && schema != result_schema) {
    // The text is escaped and shortened: it may be anything, and the error goes to a terminal.
    const std::string shown =
        nlohmann::json(schema.substr(0, 40)).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    error = Error{fmt::format("schema is {}", shown)};
  }

  Result result;
  root["program"].read(result.program);
  root["seed"].read(result.seed);
  if (root.has("trace_truncated"))
    root["trace_truncated"].read(result.trace_truncated);
  read_if_there(root["coverage"], "executed_accesses_probed", result.executed_accesses_probed);
  if (root.has("manifest"))
    read(root["manifest"], result.manifest.emplace());
  root["kernels"].for_each([&](const JsonNode& kernel) { read(kernel, result.kernels.emplace_back()); });
  if (error)
    return fail("not a {} document: {}", result_schema, error->message);
  return result;
}

} // namespace warplens
