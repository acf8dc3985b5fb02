#include "placement/rule_estimates.h"

#include "placement/change/place.h"
#include "placement/change/rewrite.h"
#include "vocabulary/geometry.h"

#include <algorithm>

namespace warplens::placement {
namespace {

/// Returns the counter whose rule would make one think of the change.
std::optional<RuleCounter> counter_of(const Move& move) {
  return move.rewrite == Rewrite::none ? traits_of(move.to).counter : traits_of(move.rewrite).counter;
}

/// Returns the share of the sectors that requests move beyond those that the bytes which they use would fill.
double excess_sectors(const KernelResult& kernel) {
  double moved = 0, used = 0;
  for (const SiteResult& site : kernel.sites)
    if (site.bytes_used && site.bytes_moved) {
      moved += double(*site.bytes_moved);
      used += double(std::min(*site.bytes_used, *site.bytes_moved));
    }
  return moved == 0 ? 0 : 1 - used / moved;
}

/// Returns the share of the shared memory's passes that are due to conflicts.
double bank_conflicts(const KernelResult& kernel) {
  double requests = 0, further = 0;
  for (const SiteResult& site : kernel.sites)
    if (site.bank_conflicts) {
      requests += double(site.executions);
      further += double(site.executions) * *site.bank_conflicts;
    }
  return requests == 0 ? 0 : further / (requests + further);
}

} // namespace

std::optional<RuleEstimate> rule_estimate(const Move& move, const Experiment& experiment) {
  const auto counter = counter_of(move);
  if (!counter)
    return std::nullopt;
  const KernelResult& kernel = *experiment.sample().result;
  switch (*counter) {
  case RuleCounter::excess_sectors: return RuleEstimate{*counter, -excess_sectors(kernel)};
  case RuleCounter::bank_conflicts: return RuleEstimate{*counter, -bank_conflicts(kernel)};
  case RuleCounter::occupancy: {
    const double warps = kernel.occupancy.warps_per_sm;
    const double max = double(experiment.gpu().max_threads_per_sm) / warp_lanes;
    return RuleEstimate{*counter, std::min(0.0, warps / max - 1)};
  }
  }
  return std::nullopt;
}

} // namespace warplens::placement
