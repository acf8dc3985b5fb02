#include "placement/print/estimate_text.h"

#include "judge/accuracy_text.h"
#include "result/figure_text.h"
#include "result/resources.h"

#include <fmt/ranges.h>

namespace warplens::placement {

std::string figure_text(const Candidate& candidate) {
  return candidate.latency_cycles ? fmt::format("{:.0f} cycles", *candidate.latency_cycles)
                                  : duration({.mean = candidate.microseconds->mean});
}

std::string sample_text(const Experiment& experiment) {
  const Candidate& sample = experiment.sample();
  return sample.microseconds ? duration(*sample.microseconds) : figure_text(sample);
}

std::string change_text(const Candidate& candidate, const Experiment& experiment) {
  const std::string share = fmt::format("{:+.0f} %", 100 * candidate.change.share);
  return experiment.estimator() == Estimator::model
             ? fmt::format("{} ±{:.0f}", share, 100 * candidate.change.half_width)
             : share;
}

std::string deciding_parts(const Candidate& candidate, const Experiment& experiment) {
  if (experiment.estimator() == Estimator::model)
    return fmt::format("bound by {}", text_of_bound(candidate.result->time->bound));
  if (!candidate.paper)
    return "";
  const TimeParts& cycles = candidate.paper->cycles;
  return fmt::format("cycles: {:.0f} of computation and {:.0f} of memory, {:.0f} of them at once",
                     cycles.computation, cycles.memory, cycles.overlap);
}

std::string doubt_text(const Candidate& candidate) {
  return candidate.not_measured.empty()
             ? ""
             : fmt::format("no measured kernel has {}", fmt::join(candidate.not_measured, " or "));
}

std::string source_text(const Candidate& candidate) {
  if (!candidate.not_compiled.empty())
    return "not compiled: " + candidate.not_compiled;
  return candidate.estimated
             ? fmt::format("compiled; moved in the trace: {:+.0f} %", 100 * candidate.estimated->share)
             : "";
}

std::string text_of(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons) {
    text += (text.empty() ? "" : "; ") + reason.text;
    if (reason.line != 0)
      text += fmt::format(" ({}:{})", reason.file, reason.line);
  }
  return text;
}

std::string accuracy_of_model(const Experiment& experiment) {
  return judge::accuracy_text(experiment.gpu().accuracy, experiment.gpu().id);
}

std::string origin_of_figures(const Experiment& experiment) {
  const Estimator estimator = experiment.estimator();
  const std::string text = estimator == Estimator::model ? "modelled"
                           : estimator == Estimator::porple
                               ? "PORPLE's latencies of a warp, which are no time"
                               : fmt::format("by --time {}", name_of(estimator));
  return experiment.is_scaled() ? text + ", scaled to the measured time" : text;
}

} // namespace warplens::placement
