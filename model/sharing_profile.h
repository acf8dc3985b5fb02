// A kernel's use of an SM and the L2 when it runs alone, from which quick estimates tell how it shares an SM
// and the L2.
#pragma once

#include "model/gpu/gpu.h"
#include "model/gpu/occupancy.h"
#include "model/model.h"
#include "model/snapshot/snapshot.h"
#include "result/result.h"

namespace warplens::model {

/// Returns the profile of a launch. `result` is its result so far, with the times of its warps and sites. It
/// takes further trials: one with all of the L2, and some with a part of its ways.
SharingProfile sharing_profile(const Snapshot& snapshot, const trace::Launch& launch, const Gpu& gpu,
                               const Occupancy& occupied, const Options& options, const KernelResult& result);

} // namespace warplens::model
