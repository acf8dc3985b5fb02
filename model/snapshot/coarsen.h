// Merges the warps of a snapshot's blocks, as if each thread did the work of several.
#pragma once

#include "model/snapshot/snapshot.h"
#include "trace/changed_source.h"

namespace warplens::model {

/// Merges the warps of each block in groups, and gives the launch the threads and registers that it then has.
/// The warps of a group must take one path; the error says what is against it. The snapshot is not changed
/// then.
Expected<void> coarsen(Snapshot& snapshot, trace::Launch& launch, const trace::Coarsening& coarsening);

} // namespace warplens::model
