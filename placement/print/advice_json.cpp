#include "placement/change/rewrite.h"
#include "placement/print/advice_report.h"
#include "result/resources.h"

#include <nlohmann/json.hpp>

namespace warplens::placement {

using Json = nlohmann::ordered_json;

nlohmann::ordered_json to_json(const AdviceReport& report) {
  Json json{{"schema", advice_schema}, {"program", report.program}, {"seed", report.seed}};
  json["kernels"] = Json::array();
  for (const KernelAdvice& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    const KernelResult& sample = *experiment.sample().result;
    const auto change_of_candidate = [&](const Candidate& one) {
      const Move& move = one.moves.front();
      return Json{{"array", is_of_launch(move.rewrite) ? "" : experiment.arrays()[move.array].name},
                  {"change", change_word(move)},
                  {"what", text_of(one.moves, experiment.arrays())},
                  {"before_us", sample.time->microseconds.mean},
                  {"after_us", one.microseconds->mean},
                  {"share", one.change.share},
                  {"half_width", one.change.half_width}};
    };
    Json one{{"kernel", sample.name},
             {"gpu", experiment.gpu().id},
             {"microseconds", sample.time->microseconds.mean},
             {"bound", text_of_bound(sample.time->bound)},
             {"busiest_us", kernel.min_us}};
    one["suggestions"] = Json::array();
    for (const Suggestion& suggestion : kernel.suggestions) {
      Json of = change_of_candidate(suggestion.candidate);
      of["file"] = suggestion.file;
      of["line"] = suggestion.line;
      of["edit"] = suggestion.edit;
      of["bound_after"] = text_of_bound(suggestion.candidate.result->time->bound);
      if (suggestion.rule)
        of["rule"] = {{"counter", name_of(suggestion.rule->counter)}, {"share", suggestion.rule->share}};
      if (suggestion.patch_change) {
        of["patch"] = suggestion.patch;
        of["of_patch"] = {{"share", suggestion.patch_change->share},
                          {"half_width", suggestion.patch_change->half_width}};
      }
      one["suggestions"].push_back(std::move(of));
    }
    one["without_gain"] = Json::array();
    for (const Candidate& candidate : kernel.without_gain)
      one["without_gain"].push_back(change_of_candidate(candidate));
    json["kernels"].push_back(std::move(one));
  }
  return json;
}

} // namespace warplens::placement
