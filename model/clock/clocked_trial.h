// A trial on a clock: the SMs run epochs, no longer than the shortest way to what they share, and then the
// memory serves what they requested, in the order of time.
#pragma once

#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/numeric/random.h"
#include "model/snapshot/snapshot.h"
#include "model/trial/trial.h"

namespace warplens::model {

TrialCounts run_clocked_trial(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupancy,
                              Random random, const L2* before = nullptr);

} // namespace warplens::model
