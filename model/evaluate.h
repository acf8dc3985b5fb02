// The trials of one decoded launch on one GPU, and their result. The rest of the project includes model.h.
#pragma once

#include "model/cache/l2.h"
#include "model/model.h"
#include "model/scale/scale_model.h"
#include "model/snapshot/snapshot.h"

#include <span>

namespace warplens::model {

/// Runs the launch's trials and returns their statistics. `sites` are the trace's, with which the snapshot
/// was built; `launch` also numbers the random streams. `options.trials` must be at least 2. `before` is the
/// content of the L2 when a trial begins, one for each part in which it is modelled; empty: none is known.
/// `scale`: as of run_trials().
Expected<KernelResult> evaluate_launch(const Snapshot& snapshot, const std::vector<Site>& sites,
                                       const trace::Launch& launch, const Gpu& gpu, const Options& options,
                                       std::span<const L2> before = {}, const ScaleModel* scale = nullptr);

} // namespace warplens::model
