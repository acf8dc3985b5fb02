// The replays of one warp access: how often an SM issues it again, by Huang and Li's causes 1 to 4, which
// change with the placement. GPUs since Volta replay nothing: there the same numbers are further wavefronts
// of the memory pipeline.
#pragma once

#include "model/gpu/lane_rules.h"
#include "placement/paper/reading.h"
#include "trace/records.h"

namespace warplens::placement {

/// Returns the replays of an access to global memory (cause 1): one for each further 128-byte line, or for
/// each further 128 bytes. The paper's printed rule counts words alone and so misses divergence.
unsigned global_replays(const trace::WarpAccess& access, Reading reading);

/// Returns the replays due to divergence of an access to constant memory (cause 3): one for each further
/// address. Misses (cause 2) add one each.
unsigned constant_replays(const trace::WarpAccess& access);

/// Returns the replays of an access to shared memory (cause 4): one for each further pass over the banks.
unsigned shared_replays(const trace::WarpAccess& access, const model::LaneRules& rules);

} // namespace warplens::placement
