#include "judge/compared_figures.h"

#include <cmath>

namespace warplens::judge {

std::optional<MeasuredValue> measured(const std::optional<MetricValue>& value) {
  return value ? std::optional(MeasuredValue{value->mean, value->half_width()}) : std::nullopt;
}

std::optional<MeasuredValue> together(const SiteMetric& metric, std::span<const SiteResult* const> sites) {
  double weights = 0, sum = 0, squares = 0;
  std::size_t seen = 0;
  std::optional<MeasuredValue> only;
  for (const SiteResult* site : sites) {
    const std::optional<MeasuredValue> value = measured(metric.value(*site));
    if (!value)
      continue;
    const double weight = metric.weight ? metric.weight(*site) : 1;
    weights += weight;
    sum += weight * value->mean;
    squares += weight * weight * value->half_width * value->half_width;
    only = ++seen == 1 ? value : std::nullopt;
  }
  if (seen <= 1)
    return only;
  if (!metric.weight)
    return MeasuredValue{sum, std::sqrt(squares)};
  return weights > 0 ? std::optional(MeasuredValue{sum / weights, std::sqrt(squares) / weights})
                     : std::nullopt;
}

} // namespace warplens::judge
