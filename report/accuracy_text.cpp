#include "report/accuracy_text.h"

#include <fmt/ranges.h>

namespace warplens::report {
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

} // namespace

std::string accuracy_text(const std::optional<Accuracy>& accuracy, std::string_view gpu) {
  if (!accuracy)
    return "held against no measurements";
  if (accuracy->gpu == gpu)
    return errors(*accuracy);
  return fmt::format("nothing was measured on this GPU; on its nearest relative, {}: {}", accuracy->gpu,
                     errors(*accuracy));
}

std::string accuracy_beside_time(const std::optional<Accuracy>& accuracy) {
  return accuracy && accuracy->time ? fmt::format("times of {} are {} off in the mean", accuracy->gpu,
                                                  percent_off(accuracy->time->mean))
                                    : "held against no measured time";
}

} // namespace warplens::report
