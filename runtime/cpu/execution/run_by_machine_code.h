// Runs a kernel that has no code for this processor, since the lowering does not know what it does: its
// machine code is executed, and what that writes is the program's.
#pragma once

#include "runtime/cpu/execution/run_grid.h"
#include "runtime/cpu/machine/prepared_launch.h"

namespace warplens::cpu {

/// Runs all blocks, one after the other; those of a cooperative launch together. A block that is traced goes
/// to `tracing` as in run_grid: its accesses are counted, and none has a probe. `capability`: of the GPU that
/// the program sees.
GridResult run_by_machine_code(const Grid& grid, const LaunchToExecute& launch, int capability,
                               const Tracing* tracing);

} // namespace warplens::cpu
