// Joins a snapshot with the machine code of its kernel: what each warp executed, and its accesses in the
// order of the compiled code.
#pragma once

#include "model/snapshot/snapshot.h"
#include "support/expected.h"
#include "trace/changed_source.h"
#include "trace/records.h"

namespace warplens::model {

/// The least share of a snapshot's accesses of which instructions must be found.
inline constexpr double min_followed_share = 0.9;

/// Sets Snapshot::code and each warp's path, and puts the warp's accesses into the path's order: an update
/// becomes a load and a store, and what a wide instruction accesses together one access. The accesses to
/// spilled registers come in between, which no trace has: returns their sites, whose indices follow those of
/// `sites`. The snapshot is of Accesses::all_in_program_order; its traced lines and counts stay. The error
/// says why the code cannot be followed; the snapshot is not changed then. `moved`: the sites whose accesses
/// are not those of the code, which then changes as they did (model/code/moved_instructions.h).
Expected<std::vector<Site>> follow_code(Snapshot& snapshot, const std::vector<Site>& sites,
                                        const trace::MachineCode& machine_code,
                                        std::span<const trace::MovedSite> moved = {});

} // namespace warplens::model
