// The metrics of a result, in two tables: those of a kernel and those of an access. What prints, compares,
// exports or judges metrics reads these tables, which follow from the facts (facts.h).
#pragma once

#include "result/result.h"

#include <optional>
#include <span>
#include <string_view>

namespace warplens {

/// `bytes` and `count` of an access are whole numbers.
enum class Unit : std::uint8_t { fraction, microseconds, nanoseconds, cycles, bytes, count, per_request };

/// The direction in which a metric is worse for the program.
enum class Worse : std::uint8_t { high, low, neither };

/// Distinguishes metrics that stay the same when the snapshot holds more blocks from those that grow with
/// them.
enum class Extent : std::uint8_t { one_request, whole_snapshot };

struct MetricValue {
  double mean = 0;
  const Statistic* over_trials = nullptr; ///< in the result; null: it does not vary over trials

  /// Returns half of the 95 % interval of the mean; 0 if it does not vary over trials.
  double half_width() const;
};

/// A metric of `Owner`, which is KernelResult or SiteResult.
template <class Owner> struct Metric {
  std::string_view name; ///< in results, CSV, SARIF and --fail-if
  Unit unit;
  Worse worse;
  std::string_view ncu; ///< the metric of Nsight Compute that measures the same; empty: none does
  std::string_view meaning;
  /// Returns the value; nothing if it was not observed, or is not finite.
  std::optional<MetricValue> (*value)(const Owner&);
  /// Returns the weight in the mean over several owners; null: their values add up.
  double (*weight)(const Owner&) = nullptr;
  Extent extent = Extent::one_request;
  bool varies = false;       ///< over trials
  bool stops_trials = false; ///< --confidence bounds its interval
};

using KernelMetric = Metric<KernelResult>;
using SiteMetric = Metric<SiteResult>;

std::span<const KernelMetric> kernel_metrics();
std::span<const SiteMetric> site_metrics();

/// Returns the metric of an access by its name, which must be one of the table's.
const SiteMetric& site_metric(std::string_view name);

/// Returns the share of the site's lookups that its first cache, L1 or constant cache, passes on: all if it
/// uses none.
double beyond_first_cache(const SiteResult& site);

/// Returns whether the machine code of each kernel was executed beside the program: then no access is
/// missing.
bool are_all_executed(const Result& result);

} // namespace warplens
