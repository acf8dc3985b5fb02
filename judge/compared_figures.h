// The values by which two results are compared: those of metrics (result/metrics.h), also of several accesses
// together.
#pragma once

#include "result/metrics.h"

#include <optional>
#include <span>

namespace warplens::judge {

/// A mean with the half width of its 95 % interval, 0 if it does not vary over trials.
struct MeasuredValue {
  double mean, half_width;
};

std::optional<MeasuredValue> measured(const std::optional<MetricValue>& value);

/// Returns the metric of these accesses together, their errors taken as independent; nothing if none of them
/// has it.
std::optional<MeasuredValue> together(const SiteMetric& metric, std::span<const SiteResult* const> sites);

} // namespace warplens::judge
