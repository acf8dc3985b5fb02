#include "placement/print/estimate_text.h"
#include "placement/print/placement_report.h"
#include "result/resources.h"

#include <fmt/ranges.h>

namespace warplens::placement {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text)
    quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + '"';
}

} // namespace

std::string print_csv(const PlacementReport& report) {
  std::string text = "kernel,gpu,moves,legal,microseconds,change,half_width,tie,bound,blocks_per_sm,"
                     "shared_bytes,reasons,latency_cycles,not_measured,accuracy,source\r\n";
  for (const KernelPlacements& kernel : report.kernels) {
    const Experiment& experiment = *kernel.experiment;
    const bool is_model = experiment.estimator() == Estimator::model;
    const auto row = [&](const Candidate& one) {
      text += fmt::format("{},{},{},{},", field(experiment.sample().result->name), experiment.gpu().id,
                          field(text_of(one.moves, experiment.arrays())), one.is_legal());
      if (one.result)
        text += fmt::format(
            "{},{},{},{},{},{}", one.microseconds ? fmt::format("{}", one.microseconds->mean) : "",
            one.change.share, is_model ? fmt::format("{}", one.change.half_width) : "", one.change.is_tie(),
            is_model ? field(text_of_bound(one.result->time->bound)) : "",
            one.result->occupancy.blocks_per_sm);
      else
        text += ",,,,,";
      std::string reasons;
      for (const ChangedTrace::Refusal& refusal : one.refusals)
        reasons += (reasons.empty() ? "" : "; ") + text_of(refusal.reasons);
      text += fmt::format(",{},{},{},{},{},{}\r\n", one.shared_bytes, field(reasons),
                          one.latency_cycles ? fmt::format("{}", *one.latency_cycles) : "",
                          field(fmt::format("{}", fmt::join(one.not_measured, "; "))),
                          field(accuracy_of_model(experiment)), field(source_text(one)));
    };
    row(experiment.sample());
    for (const auto* list : {&kernel.found.candidates, &kernel.found.refused})
      for (const Candidate& candidate : *list)
        row(candidate);
  }
  return text;
}

} // namespace warplens::placement
