// A trial on a clock: the SMs run epochs, no longer than the shortest way to what they share, and then the
// memory serves what they requested, in the order of time.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/counts/trial_observer.h"
#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/snapshot/snapshot.h"
#include "numeric/random.h"

#include <functional>
#include <span>

namespace warplens::model {

/// Runs a trial. `before` is the initial content of the L2's partitions, one for each; empty: nothing is
/// known. `observer` may be null. `stop` says that the counts are no longer wanted, which then are without
/// meaning; empty: they are.
TrialCounts run_clocked_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy,
                              Random random, std::span<const L2> before = {},
                              TrialObserver* observer = nullptr, const std::function<bool()>& stop = {});

} // namespace warplens::model
