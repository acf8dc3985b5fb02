#include "judge/accuracy_text.h"

#include "result/figure_text.h"
#include "result/likely_time.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace warplens::judge {
namespace {

std::string percent_off(double error) {
  return fmt::format("{:.0f} %", 100 * error);
}

/// Returns the error of a hit rate: "L1 hits 2.1 points".
std::string points_off(const char* what, const ErrorOfFigure& error) {
  return fmt::format("{} {:.1f} points", what, 100 * error.mean);
}

/// Returns the texts as a list: "a, b or c".
std::string alternatives(const std::vector<std::string>& texts) {
  const auto last = texts.end() - 1;
  return texts.size() == 1 ? *last : fmt::format("{} or {}", fmt::join(texts.begin(), last, ", "), *last);
}

std::string errors(const Accuracy& accuracy) {
  std::string text = accuracy.time
                         ? fmt::format("time {} off in the mean and {} at worst",
                                       percent_off(accuracy.time->mean), percent_off(accuracy.time->worst))
                         : "time not compared";
  text += fmt::format(" over {} launch{} of {} kernel{}", accuracy.launches,
                      accuracy.launches == 1 ? "" : "es", accuracy.kernels, accuracy.kernels == 1 ? "" : "s");
  std::vector<std::string> rates;
  if (accuracy.l1_read_hit_rate)
    rates.push_back(points_off("L1 hits", *accuracy.l1_read_hit_rate));
  if (accuracy.l2_read_hit_rate)
    rates.push_back(points_off("L2 hits", *accuracy.l2_read_hit_rate));
  if (!rates.empty())
    text += fmt::format("; {}", fmt::join(rates, ", "));
  if (!accuracy.without.empty())
    text += fmt::format("; no kernel with {} among them", alternatives(accuracy.without));
  return text;
}

std::string_view text_of(LaunchKind kind) {
  switch (kind) {
  case LaunchKind::small: return "short launches";
  case LaunchKind::dram: return "bound by DRAM";
  case LaunchKind::l2: return "bound by the L2";
  case LaunchKind::sm: return "bound by the SMs";
  case LaunchKind::latency: return "bound by latency";
  }
  return "";
}

/// Returns on what an error stands: "23 launches bound by DRAM measured on v100".
std::string evidence(const ErrorOfKind& error, LaunchKind kind) {
  const std::string launches = error.covers_all_kinds      ? "launches"
                               : kind == LaunchKind::small ? "short launches"
                                                           : fmt::format("launches {}", text_of(kind));
  return fmt::format("{} {} measured on {}", error.launches, launches, error.measured_on);
}

} // namespace

std::string accuracy_text(const std::optional<Accuracy>& accuracy, std::string_view gpu) {
  if (!accuracy)
    return "held against no measurements";
  if (accuracy->gpu == gpu)
    return errors(*accuracy);
  return fmt::format("nothing was measured on this GPU; on its nearest relative, {}: {}", accuracy->gpu,
                     errors(*accuracy));
}

std::string accuracy_beside_time(const KernelResult& kernel) {
  const std::optional<LikelyTime> likely = likely_time_of(kernel);
  if (!likely)
    return accuracy_in_mean(kernel.accuracy);
  return fmt::format(
      "hardware: {} to {} in nine cases of ten, by {}", duration(Statistic{.mean = likely->low_us}),
      duration(Statistic{.mean = likely->high_us}), evidence(likely->like, kind_of(*kernel.time)));
}

std::vector<std::string> accuracy_by_kind(const Accuracy& accuracy) {
  std::vector<std::string> lines;
  for (std::size_t kind = 0; kind < launch_kinds; ++kind)
    if (const std::optional<ErrorOfKind>& error = accuracy.time_by_kind[kind])
      lines.push_back(
          fmt::format("{}: within {:.2f} × in nine cases of ten, by {}",
                      error->covers_all_kinds ? "whatever bounds them" : text_of(LaunchKind(kind)),
                      1 + error->within, evidence(*error, LaunchKind(kind))));
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

std::string accuracy_in_mean(const std::optional<Accuracy>& accuracy) {
  return accuracy && accuracy->time ? fmt::format("times of {} are {} off in the mean", accuracy->gpu,
                                                  percent_off(accuracy->time->mean))
                                    : "held against no measured time";
}

} // namespace warplens::judge
