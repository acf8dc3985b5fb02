// Collects the counts of a trial's SMs, in all and by site.
#pragma once

#include "model/clock/clock_figures.h"
#include "model/clock/sm.h"
#include "model/counts/trial_counts.h"
#include "model/snapshot/snapshot.h"

#include <memory>
#include <vector>

namespace warplens::model {

/// Returns the counts of all SMs that have work, without the memory's and without the launch's time. `states`
/// are those of the warps; a GPU has `gpu_sms` SMs, over which resources are busy in the mean.
TrialCounts collect_counts(const std::vector<std::unique_ptr<Sm>>& sms, const Snapshot& snapshot,
                           const ClockFigures& figures, std::vector<StateCounts> states,
                           std::uint32_t gpu_sms);

} // namespace warplens::model
