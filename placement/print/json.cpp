#include "placement/print/estimate_text.h"
#include "placement/print/placement_report.h"
#include "result/resources.h"

#include <nlohmann/json.hpp>

namespace warplens::placement {
namespace {

using Json = nlohmann::ordered_json;

Json nanoseconds_of(const Statistic& microseconds) {
  return {{"mean", 1000 * microseconds.mean},
          {"std", 1000 * microseconds.std_deviation},
          {"ci95", {1000 * microseconds.ci95[0], 1000 * microseconds.ci95[1]}},
          {"spread95", {1000 * microseconds.spread95[0], 1000 * microseconds.spread95[1]}}};
}

Json to_json(const Array& array, const trace::AccessSource& trace) {
  Json json{{"name", array.name},
            {"place", name_of(place_of(array))},
            {"bytes", array.bytes},
            {"touched_bytes", array.touched.bytes()},
            {"element_bytes", array.element_bytes},
            {"loads", array.loads},
            {"stores", array.stores},
            {"atomics", array.atomics}};
  if (array.first_access != no_site) {
    json["file"] = trace.sites()[array.first_access].file;
    json["line"] = trace.sites()[array.first_access].line;
  }
  return json;
}

Json to_json(const Move& move, const Arrays& arrays) {
  Json json{{"array", arrays[move.array].name}, {"to", name_of(move.to)}};
  if (move.to == PlacementSpace::shared)
    json["part"] = name_of(move.part);
  if (move.texels_per_row != 0)
    json["texels_per_row"] = move.texels_per_row;
  return json;
}

Json to_json(const std::vector<ChangedTrace::Refusal>& refusals, const Arrays& arrays) {
  Json json = Json::array();
  for (const ChangedTrace::Refusal& refusal : refusals)
    for (const Reason& reason : refusal.reasons) {
      Json one{{"array", arrays[refusal.move.array].name}, {"text", reason.text}};
      if (reason.line != 0) {
        one["file"] = reason.file;
        one["line"] = reason.line;
      }
      json.push_back(std::move(one));
    }
  return json;
}

Json to_json(const Candidate& candidate, const Experiment& experiment) {
  Json json;
  json["moves"] = Json::array();
  for (const Move& move : candidate.moves)
    json["moves"].push_back(to_json(move, experiment.arrays()));
  json["legal"] = candidate.is_legal();
  json["reasons"] = to_json(candidate.refusals, experiment.arrays());
  json["shared_bytes"] = candidate.shared_bytes;
  json["not_measured"] = candidate.not_measured;
  if (candidate.persisting)
    json["persisting"] = {{"set_aside", candidate.persisting->set_aside},
                          {"hit_ratio", candidate.persisting->hit_ratio}};
  if (!candidate.result)
    return json;
  const KernelResult& result = *candidate.result;
  const KernelTime& time = *result.time;
  const bool is_model = experiment.estimator() == Estimator::model;
  if (candidate.microseconds)
    json["time_ns"] = is_model ? nanoseconds_of(*candidate.microseconds)
                               : Json{{"mean", 1000 * candidate.microseconds->mean}};
  if (candidate.latency_cycles)
    json["latency_cycles"] = *candidate.latency_cycles;
  json["delta"] = {{"share", candidate.change.share}, {"tie", candidate.change.is_tie()}};
  if (is_model)
    json["delta"]["half_width"] = candidate.change.half_width;
  if (candidate.estimated)
    json["moved_in_trace"] = {{"share", candidate.estimated->share},
                              {"half_width", candidate.estimated->half_width}};
  if (!candidate.not_compiled.empty())
    json["not_compiled"] = candidate.not_compiled;
  if (candidate.paper) {
    const PaperEstimate& paper = *candidate.paper;
    json["paper"] = {{"tcomp", paper.cycles.computation},
                     {"tmem", paper.cycles.memory},
                     {"toverlap", paper.cycles.overlap},
                     {"amat", paper.access_latency},
                     {"replays", paper.replays},
                     {"exec", paper.executed},
                     {"ilp", paper.instruction_parallelism},
                     {"initialisation", paper.cycles.initialisation},
                     {"dram_ns", paper.memory.nanoseconds},
                     {"rows", {paper.memory.rows.hit, paper.memory.rows.miss, paper.memory.rows.conflict}},
                     {"ca", paper.memory.arrival_variation},
                     {"ca_of_banks", {paper.memory.min_variation, paper.memory.max_variation}}};
  }
  if (is_model) {
    json["bound"] = text_of_bound(time.bound);
    Json& parts = json["parts"] = Json::object(); // microseconds for which each resource is busy
    for (std::size_t i = 0; i < resource_count; ++i)
      if (time.busy[i] > 0)
        parts[std::string(text_of(Resource(i)))] = time.busy[i] * candidate.microseconds->mean;
  }
  json["occupancy"] = {{"blocks_per_sm", result.occupancy.blocks_per_sm},
                       {"warps_per_sm", result.occupancy.warps_per_sm},
                       {"limited_by", result.occupancy.limited_by}};
  json["trials"] = result.trials.run;
  if (result.executed)
    json["instructions"] = result.executed->instructions;
  return json;
}

} // namespace

nlohmann::ordered_json to_json(const PlacementReport& report) {
  Json json{{"schema", placement_schema}, {"program", report.program}, {"seed", report.seed}};
  if (!report.kernels.empty())
    json["time"] = name_of(report.kernels.front().experiment->estimator());
  if (report.overlap)
    json["overlap"] = {{"weights", report.overlap->weights},
                       {"constant", report.overlap->constant},
                       {"ridge", report.overlap->ridge},
                       {"error_of_unseen", report.overlap->error_of_unseen}};
  json["kernels"] = Json::array();
  for (const KernelPlacements& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    Json one{{"kernel", experiment.sample().result->name}, {"gpu", experiment.gpu().id}};
    one["accuracy"] = accuracy_of_model(experiment);
    one["sample"] = to_json(experiment.sample(), experiment);
    one["arrays"] = Json::array();
    for (const Array& array : experiment.arrays().all())
      one["arrays"].push_back(to_json(array, experiment.trace()));
    one["candidates"] = Json::array();
    for (const auto* list : {&kernel.found.candidates, &kernel.found.refused})
      for (const Candidate& candidate : *list)
        one["candidates"].push_back(to_json(candidate, experiment));
    if (kernel.is_search)
      one["search"] = {{"legal", kernel.found.legal},
                       {"unchanged", kernel.found.unchanged},
                       {"excluded", kernel.found.excluded},
                       {"modelled", kernel.found.modelled}};
    json["kernels"].push_back(std::move(one));
  }
  return json;
}

} // namespace warplens::placement
