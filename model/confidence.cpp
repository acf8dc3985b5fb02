#include "model/confidence.h"

#include "model/figures.h"
#include "result/metrics.h"

#include <algorithm>

namespace warplens::model {
namespace {

/// Returns whether the interval of each metric that decides is narrow enough. Of a latency of a cycle or two,
/// such as that of stores, which nothing waits for, a share is no measure: `finest` is.
template <class Owner>
bool known_well(std::span<const Metric<Owner>> metrics, const Owner& owner, const Confidence& wanted,
                double finest) {
  return std::ranges::all_of(metrics, [&](const Metric<Owner>& metric) {
    if (!metric.stops_trials)
      return true;
    const std::optional<MetricValue> value = metric.value(owner);
    if (!value)
      return true;
    return metric.unit == Unit::fraction
               ? value->half_width() < wanted.rate
               : value->mean == 0 || value->half_width() < std::max(wanted.latency * value->mean, finest);
  });
}

} // namespace

bool known_well(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu,
                const Confidence& wanted) {
  const bool has_clock = !trials.empty() && trials.front().time.cycles != 0;
  const double finest = has_clock && wanted.latency != 0 ? gpu.ns_per_cycle() : 0;
  KernelResult kernel;
  kernel.totals = totals_of(trials, gpu);
  if (std::optional<Statistic> cycles = cycles_of(trials))
    kernel.time.emplace().cycles = std::move(*cycles);
  if (!known_well(kernel_metrics(), kernel, wanted, finest))
    return false;
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    if (snapshot.sites[i].executions * 100 < snapshot.warp_accesses)
      continue;
    SiteResult site;
    set_statistics(site, snapshot.sites[i], i, trials, gpu);
    if (!known_well(site_metrics(), site, wanted, finest))
      return false;
  }
  return true;
}

} // namespace warplens::model
