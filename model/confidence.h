// When there have been trials enough.
#pragma once

#include "model/model.h"
#include "model/snapshot.h"
#include "model/trial.h"

#include <span>

namespace warplens::model {

/// Whether half of each ci95 is narrower than asked for: those of the totals, and those of the sites with at
/// least 1 % of the snapshot's warp accesses. Figures that fewer than two trials had have no interval, and
/// stop nobody.
bool known_well(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu,
                const Confidence& asked);

} // namespace warplens::model
