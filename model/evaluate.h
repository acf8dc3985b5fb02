// The trials of one decoded launch on one GPU, and what they add up to. model.h is the way in for the rest of
// the project.
#pragma once

#include "model/l2.h"
#include "model/model.h"
#include "model/snapshot.h"

namespace warplens::model {

/// `sites`: the trace's, which the snapshot was built with. `launch` also numbers the random streams.
/// `options.trials` must be at least 2. `before`: what the L2 holds when a trial begins; null: nothing.
Expected<KernelResult> evaluate_launch(const Snapshot& snapshot, const std::vector<trace::Site>& sites,
                                       const trace::Launch& launch, const Gpu& gpu, const Options& options,
                                       const L2* before = nullptr);

} // namespace warplens::model
