// The rule by which trials stop.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/model.h"
#include "model/snapshot/snapshot.h"

#include <span>

namespace warplens::model {

/// Returns whether half of each ci95 is narrower than `wanted`: those of the totals, and those of the sites
/// with at least 1 % of the snapshot's warp accesses; of latencies, or narrower than a cycle of the clock. A
/// figure that fewer than two trials had has no interval and is ignored.
bool known_well(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu,
                const Confidence& wanted);

} // namespace warplens::model
