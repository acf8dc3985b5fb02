// Adds the accesses to registers that the compiler spilled: the machine code has them, the source does not,
// so that no trace does.
#pragma once

#include "model/snapshot/snapshot.h"
#include "support/expected.h"
#include "trace/records.h"

#include <vector>

namespace warplens::model {

/// A snapshot's traced accesses have a limit, too, so that it fits into memory.
inline constexpr std::uint64_t max_spill_accesses = std::uint64_t{1} << 25;

/// Adds to each warp the loads and stores of its stack frame at constant offsets (LDL and STL relative to R1)
/// that lie on its path and have no slot yet: to `code` their slots, to the snapshot the accesses and pages.
/// A frame's words lie as those of other local memory do, a line apart for each warp; each warp of the
/// snapshot has a frame of its own. All of the warp's lanes take part. Returns the sites that the accesses
/// belong to, one for each line, kind and width; `sites` are those that the snapshot has indices to, and the
/// new ones come behind them. The error says that they are more than max_spill_accesses; nothing is changed
/// then.
Expected<std::vector<Site>> add_spills(Snapshot& snapshot, Code& code, const std::vector<Site>& sites);

} // namespace warplens::model
