// One trial: a replay of the snapshot in one GPU's memory hierarchy, in one random order.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/counts/trial_observer.h"
#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/snapshot/snapshot.h"
#include "numeric/random.h"

namespace warplens::model {

/// Runs a trial. `before` is the initial content of the L2, which is copied; null: it is empty.
TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      const L2* before = nullptr);
/// Runs the same trial and notifies the observer.
TrialCounts run_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy, Random random,
                      TrialObserver& observer, const L2* before = nullptr);

} // namespace warplens::model
