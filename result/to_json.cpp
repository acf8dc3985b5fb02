// Result → JSON. JSON has no NaN and no infinity: a figure that is not finite was not observed, so its key is
// absent.
#include "result/code_json.h"
#include "result/events_json.h"
#include "result/facts.h"
#include "result/headroom.h"
#include "result/likely_time.h"
#include "result/names.h"
#include "result/result.h"
#include "result/shares_json.h"
#include "result/timeline_json.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

namespace warplens {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::optional<std::uint64_t>& value) {
  if (value)
    object[key] = *value;
}

void put(Json& object, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value))
    object[key] = *value;
}

bool all_finite(const Statistic& statistic) {
  for (double value : {statistic.mean, statistic.std_deviation, statistic.ci95[0], statistic.ci95[1],
                       statistic.spread95[0], statistic.spread95[1]})
    if (!std::isfinite(value))
      return false;
  for (double edge : statistic.histogram.edges)
    if (!std::isfinite(edge))
      return false;
  return std::isfinite(statistic.machine_deviation.value_or(0));
}

void put(Json& object, const char* key, const std::optional<Statistic>& value) {
  if (!value || !all_finite(*value))
    return;
  object[key] = {{"mean", value->mean},
                 {"std", value->std_deviation},
                 {"ci95", {value->ci95[0], value->ci95[1]}},
                 {"spread95", {value->spread95[0], value->spread95[1]}},
                 {"histogram", {{"edges", value->histogram.edges}, {"counts", value->histogram.counts}}}};
  put(object[key], "std_of_machine", value->machine_deviation);
  const auto& counts = value->histogram.counts;
  if (std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) < few_trials)
    object[key]["few_samples"] = true;
}

/// Writes one entry per trial; null if the trial observed nothing.
void put(Json& object, const char* key, const TrialValues::Values& values) {
  if (values.empty())
    return;
  Json& list = object[key] = Json::array();
  for (const std::optional<double>& value : values)
    list.push_back(value && std::isfinite(*value) ? Json(*value) : Json());
}

void put(Json& object, const char* key, const std::optional<LatencyParts>& parts) {
  if (!parts)
    return;
  Json& json = object[key] = Json::object();
  const auto put_part = [&](const char* name, double part) {
    put(json, name, part == 0 ? std::nullopt : std::optional(part));
  };
  put_part("l1_ns", parts->l1_ns);
  put_part("l2_ns", parts->l2_ns);
  put_part("dram_ns", parts->dram_ns);
  put_part("shared_ns", parts->shared_ns);
  put_part("constant_ns", parts->constant_ns);
}

void put(Json& object, const char* key, const std::optional<KernelTime>& time) {
  if (!time || !all_finite(time->cycles) || !all_finite(time->microseconds))
    return;
  Json& json = object[key] = Json::object();
  put(json, "cycles", std::optional(time->cycles));
  put(json, "microseconds", std::optional(time->microseconds));
  json["extrapolated"] = time->is_extrapolated;
  put(json, "launch_us", std::optional(time->launch_us));
  json["busy"] = shares_by<Resource>(time->busy);
  json["mean_busy"] = shares_by<Resource>(time->mean_busy);
  json["bound"] = name_of_bound(time->bound);
  json["kind"] = name_of(kind_of(*time));
  for (const BoundOfMachines& bound_time : time->bounds)
    json["bounds"].push_back({{"bound", name_of_bound(bound_time.bound)},
                              {"trials", bound_time.trials},
                              {"microseconds", bound_time.microseconds}});
}

void put(Json& object, const char* key, const std::optional<WarpTime>& warps) {
  if (!warps)
    return;
  Json& json = object[key] = Json::object();
  put(json, "resident", std::optional(warps->resident));
  put(json, "cycles_apart", std::optional(warps->cycles_apart));
  json["states"] = shares_by<WarpState>(warps->states);
}

Json to_json(const LineTime& line) {
  Json json;
  json["file"] = line.file;
  json["line"] = line.line;
  put(json, "instructions", std::optional(line.instructions));
  json["states"] = shares_by<WarpState>(line.states);
  put(json, "awaited", std::optional(line.awaited));
  if (line.work)
    json["work"] = kinds_to_json(*line.work);
  return json;
}

void put(Json& object, const char* key, const std::optional<ExecutedCode>& executed) {
  if (!executed || !all_finite(executed->per_cycle))
    return;
  Json& json = object[key] = Json::object();
  json["architecture"] = fmt::format("sm_{}", executed->architecture);
  json["instructions"] = executed->instructions;
  json["matched_accesses"] = executed->matched;
  put(json, "per_cycle", std::optional(executed->per_cycle));
  if (executed->execution) {
    const CodeExecution& execution = *executed->execution;
    json["execution"] = {{"blocks", execution.blocks},
                         {"words", execution.words},
                         {"different_words", execution.different_words},
                         {"different_atomics", execution.different_atomics},
                         {"largest_difference", execution.largest_difference}};
  }
  if (!executed->inferred.empty())
    json["inferred"] = executed->inferred;
}

void put(Json& object, const char* key, const std::optional<SiteTime>& time) {
  if (!time || !all_finite(time->waited) || !all_finite(time->share))
    return;
  Json& json = object[key] = Json::object();
  put(json, "waited_cycles", std::optional(time->waited));
  put(json, "waited_share", std::optional(time->waited_share));
  json["occupied"] = shares_by<Resource>(time->occupied);
  put(json, "share", std::optional(time->share));
}

void put(Json& object, const char* key, const std::optional<LanePattern>& pattern) {
  if (pattern)
    object[key] = {{"uniform", pattern->uniform},
                   {"regular", pattern->regular},
                   {"stride_bytes", pattern->stride_bytes},
                   {"misaligned", pattern->misaligned},
                   {"offset_bytes", pattern->offset_bytes}};
}

void put(Json& object, const char* key, const std::optional<LaneRequest>& request) {
  if (!request)
    return;
  Json offsets = Json::array();
  std::uint32_t active = 0;
  for (std::size_t lane = 0; lane < request->offsets.size(); ++lane)
    if (request->offsets[lane]) {
      active |= std::uint32_t{1} << lane;
      offsets.push_back(*request->offsets[lane]);
    }
  object[key] = {{"share", request->share},
                 {"parts", request->parts},
                 {"bytes", request->bytes},
                 {"active", active},
                 {"offsets", std::move(offsets)}};
}

void put(Json& object, const char* key, const std::optional<Machine>& machine) {
  if (!machine)
    return;
  const SmResources& sm = machine->sm;
  object[key] = {{"dram_bytes_per_ns", machine->dram_bytes_per_ns},
                 {"reads_reach", machine->reads_reach},
                 {"copies_reach", machine->copies_reach},
                 {"l2_bytes_per_ns", machine->l2_bytes_per_ns},
                 {"l2_bytes", machine->l2_bytes},
                 {"schedulers", machine->schedulers},
                 {"turnover_cycles", machine->turnover_cycles},
                 {"threads", sm.threads},
                 {"blocks", sm.blocks},
                 {"threads_per_block", sm.threads_per_block},
                 {"registers", sm.registers},
                 {"registers_per_block", sm.registers_per_block},
                 {"registers_per_thread", sm.registers_per_thread},
                 {"register_unit", sm.register_unit},
                 {"sub_partitions", sm.sub_partitions},
                 {"shared_bytes", sm.shared_bytes},
                 {"shared_per_block", sm.shared_per_block},
                 {"shared_reserved", sm.shared_reserved},
                 {"shared_unit", sm.shared_unit}};
}

/// Writes what follows from the other figures; results that are read have it anew.
void put(Json& object, const char* key, const std::optional<Headroom>& headroom) {
  if (!headroom)
    return;
  Json& json = object[key] = Json::object();
  json["blocks_per_snapshot_block"] = headroom->scale;
  put(json, "waves", headroom->waves);
  json["dram"] = {{"read_bytes", headroom->dram_read_bytes},
                  {"write_bytes", headroom->dram_write_bytes},
                  {"bytes_per_ns", headroom->dram_bytes_per_ns},
                  {"share_of_peak", headroom->dram_share_of_peak}};
  put(json, "instructions", headroom->instructions);
  Json& pipes = json["pipes"] = Json::object();
  for (const PipeUse& use : headroom->pipes)
    pipes[std::string(name_of(use.pipe))] = use.share_of_peak;
  Json& operations = json["floating_point_operations"] = Json::object();
  for (const OperationsOfPrecision& of : headroom->operations)
    operations[of.precision] = {{"operations", of.operations}, {"per_ns", of.per_ns}};
  Json& limits = json["at_least_us"] = Json::object();
  for (const LimitOfTime& limit : headroom->limits)
    limits[std::string(name_of(limit.resource))] = limit.microseconds;
  json["roofline_us"] = headroom->roofline_us;
  json["times_roofline"] = headroom->times_roofline;
}

void put(Json& object, const char* key, const std::optional<LatencyDistribution>& latencies) {
  if (latencies)
    object[key] = {{"edges", latencies->histogram.edges},
                   {"counts", latencies->histogram.counts},
                   {"mode_ns", latencies->mode_ns},
                   {"mode_share", latencies->mode_share}};
}

void put(Json& object, const char* key, const std::optional<ByMemoryEvent>& events) {
  if (events)
    object[key] = memory_events_to_json(*events);
}

/// Writes the fields of a table of facts.
template <class Object, class Facts> void put_facts(Json& json, const Object& object, const Facts& facts) {
  for_each_fact(facts, [&]<class Fact>(const Fact& fact) {
    if constexpr (std::is_arithmetic_v<typename Fact::Value>)
      put(json, fact.name.data(), std::optional(object.*Fact::member));
    else
      put(json, fact.name.data(), object.*Fact::member);
  });
}

std::string hexadecimal(std::uint64_t id) {
  return fmt::format("{:016x}", id);
}

Json to_json(const SiteResult& result) {
  const Site& site = result.site;
  Json json;
  json["id"] = hexadecimal(site.id);
  json["file"] = site.file;
  json["line"] = site.line;
  json["column"] = site.column;
  json["expression"] = site.expression;
  json["kind"] = name_of(site.kind);
  json["space"] = name_of(site.space);
  json["element_bytes"] = site.element_bytes;
  if (!site.object.empty())
    json["object"] = site.object;
  if (!site.macro.empty())
    json["macro"] = site.macro;
  if (site.waits)
    json["waits"] = true;
  if (site.in_template)
    json["template"] = true;
  if (site.cache_operator != CacheOperator::none)
    json["cache_operator"] = name_of(site.cache_operator);
  json["sequence"] = site.sequence;
  Json& depends_on = json["depends_on"] = Json::array();
  for (std::uint64_t id : site.depends_on)
    depends_on.push_back(hexadecimal(id));
  put_facts(json, result, site_facts);
  return json;
}

Json to_json(const Totals& totals) {
  Json json = Json::object();
  put_facts(json, totals, total_facts);
  return json;
}

Json to_json(const TrialValues& values) {
  Json json = Json::object();
  put_facts(json, values, trial_facts);
  return json;
}

Json to_json(const ObjectResult& object) {
  Json json;
  json["name"] = object.name;
  json["requests"] = object.requests;
  json["footprint_bytes"] = object.footprint_bytes;
  if (object.block_footprint_bytes)
    json["block_footprint_bytes"] = *object.block_footprint_bytes;
  json["bytes_used"] = object.bytes_used;
  json["bytes_moved"] = object.bytes_moved;
  if (object.reuse_distance)
    json["reuse_distance"] = {{"edges", object.reuse_distance->edges},
                              {"counts", object.reuse_distance->counts},
                              {"cold", object.reuse_distance->cold}};
  return json;
}

Json to_json(const CompiledKernel& compiled) {
  Json json;
  if (compiled.architecture != 0) {
    json["architecture"] = fmt::format("sm_{}", compiled.architecture);
    json["assumed"] = compiled.assumed;
  }
  json["registers"] = compiled.registers;
  if (compiled.architecture != 0) {
    json["stack_bytes"] = compiled.stack_bytes;
    json["spill_store_bytes"] = compiled.spill_store_bytes;
    json["spill_load_bytes"] = compiled.spill_load_bytes;
    json["shared_bytes"] = compiled.shared_bytes;
  }
  return json;
}

void put(Json& object, const std::string& figure, const std::optional<ErrorOfFigure>& error) {
  if (error)
    object[figure] = {{"mean_error", error->mean}, {"worst_error", error->worst}};
}

Json to_json(const Accuracy& accuracy) {
  Json json = {{"gpu", accuracy.gpu}, {"launches", accuracy.launches}, {"kernels", accuracy.kernels}};
  put(json, "time", accuracy.time);
  put(json, "l1_read_hit_rate", accuracy.l1_read_hit_rate);
  put(json, "l2_read_hit_rate", accuracy.l2_read_hit_rate);
  for (std::size_t kind = 0; kind < launch_kinds; ++kind)
    if (const std::optional<ErrorOfKind>& error = accuracy.time_by_kind[kind])
      json["time_by_kind"][std::string(name_of(LaunchKind(kind)))] = {
          {"within", error->within},
          {"launches", error->launches},
          {"measured_on", error->measured_on},
          {"of_any_kind", error->covers_all_kinds}};
  json["without"] = accuracy.without;
  json["date"] = accuracy.date;
  return json;
}

Json to_json(const KernelResult& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["gpu"] = kernel.gpu;
  if (kernel.sm_clock_mhz != 0)
    json["sm_clock_mhz"] = kernel.sm_clock_mhz;
  if (kernel.accuracy)
    json["accuracy"] = to_json(*kernel.accuracy);
  json["grid"] = {kernel.grid.x, kernel.grid.y, kernel.grid.z};
  json["block"] = {kernel.block.x, kernel.block.y, kernel.block.z};
  if (kernel.launches != 0)
    json["launches"] = kernel.launches;
  if (kernel.launches_of_kernel != 0) {
    json["launches_of_kernel"] = kernel.launches_of_kernel;
    json["times_this_launch"] = kernel.times_this_launch;
    json["launch"] = kernel.launch;
  }
  json["occupancy"] = {{"blocks_per_sm", kernel.occupancy.blocks_per_sm},
                       {"warps_per_sm", kernel.occupancy.warps_per_sm},
                       {"limited_by", kernel.occupancy.limited_by}};
  if (kernel.occupancy.sms != 0)
    json["occupancy"]["sms"] = kernel.occupancy.sms;
  if (kernel.occupancy.shared_bytes != 0)
    json["occupancy"]["shared_bytes"] = kernel.occupancy.shared_bytes;
  put(json, "machine", kernel.machine);
  put(json, "headroom", headroom_of(kernel));
  if (kernel.compiled)
    json["compiled"] = to_json(*kernel.compiled);
  if (kernel.identity)
    json["identity"] = {
        {"code", kernel.identity->code}, {"work", kernel.identity->work}, {"model", kernel.identity->model}};
  json["snapshot"] = {{"blocks", kernel.snapshot.blocks},
                      {"warp_accesses", kernel.snapshot.warp_accesses},
                      {"transactions", kernel.snapshot.transactions},
                      {"complete", kernel.snapshot.complete}};
  if (!kernel.snapshot.limit.empty())
    json["snapshot"]["limit"] = kernel.snapshot.limit;
  for (const trace::BlockWindow& window : kernel.snapshot.windows)
    json["snapshot"]["windows"].push_back(
        {{"first", window.first}, {"blocks", window.blocks}, {"stands_for", window.stands_for}});
  json["trials"] = {{"run", kernel.trials.run}, {"converged", kernel.trials.converged}};
  if (kernel.trials.stopped_by)
    json["trials"]["stopped_by"] = name_of(*kernel.trials.stopped_by);
  if (kernel.trials.divisor != 1)
    json["trials"]["divisor"] = kernel.trials.divisor;
  if (!kernel.trials.drawn.empty())
    json["trials"]["drawn"] = kernel.trials.drawn;
  if (kernel.l2_start)
    json["l2_start"] = {
        {"warm", kernel.l2_start->warm}, {"bytes", kernel.l2_start->bytes}, {"why", kernel.l2_start->why}};
  put(json, "time", kernel.time);
  if (const auto likely = likely_time_of(kernel); likely && json.contains("time"))
    json["time"]["likely"] = {{"low", likely->low_us}, {"high", likely->high_us}};
  if (!kernel.time_unknown.empty())
    json["time_unknown"] = kernel.time_unknown;
  put(json, "warps", kernel.warps);
  put(json, "executed", kernel.executed);
  if (kernel.code)
    json["code"] = code_to_json(*kernel.code);
  if (!kernel.code_unknown.empty())
    json["code_unknown"] = kernel.code_unknown;
  if (kernel.events)
    json["events"] = events_to_json(*kernel.events);
  if (kernel.sharing)
    json["sharing"] = sharing_profile_to_json(*kernel.sharing);
  json["totals"] = to_json(kernel.totals);
  if (Json values = to_json(kernel.trial_values); !values.empty())
    json["trial_values"] = std::move(values);
  Json& sites = json["sites"] = Json::array();
  for (const SiteResult& site : kernel.sites)
    sites.push_back(to_json(site));
  if (!kernel.lines.empty()) {
    Json& lines = json["lines"] = Json::array();
    for (const LineTime& line : kernel.lines)
      lines.push_back(to_json(line));
  }
  if (!kernel.objects.empty()) {
    Json& objects = json["objects"] = Json::array();
    for (const ObjectResult& object : kernel.objects)
      objects.push_back(to_json(object));
  }
  if (kernel.timeline)
    json["timeline"] = timeline_to_json(*kernel.timeline);
  return json;
}

Json to_json(const std::vector<NamedHash>& files) {
  Json list = Json::array();
  for (const NamedHash& file : files)
    list.push_back({{"name", file.name}, {"xxh64", fmt::format("{:016x}", file.hash)}});
  return list;
}

Json to_json(const Manifest& manifest) {
  Json json = {{"warplens", manifest.version},
               {"sources", to_json(manifest.sources)},
               {"nvcc", manifest.nvcc},
               {"gpus", to_json(manifest.gpus)}};
  if (!manifest.arguments.empty())
    json["arguments"] = manifest.arguments;
  if (!manifest.toolkit.empty())
    json["toolkit"] = manifest.toolkit;
  return json;
}

} // namespace

nlohmann::ordered_json to_json(const Result& result) {
  Json json;
  json["schema"] = result_schema;
  json["program"] = result.program;
  json["seed"] = result.seed;
  json["trace_truncated"] = result.trace_truncated;
  json["coverage"] = Json::object();
  put(json["coverage"], "executed_accesses_probed", result.executed_accesses_probed);
  if (result.manifest)
    json["manifest"] = to_json(*result.manifest);
  Json& kernels = json["kernels"] = Json::array();
  for (const KernelResult& kernel : result.kernels)
    kernels.push_back(to_json(kernel));
  return json;
}

} // namespace warplens
