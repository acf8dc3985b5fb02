// Launches and blocks before their first instruction.
#pragma once

#include "machine/warp.h"

namespace warplens::machine {

/// Fills the banks of constants, and the rows of those that are operands.
LaunchState prepare(const Program& program, const Kernel& kernel, const Launch& launch, Memory& memory,
                    Sink* sink);

/// Gives a block its memory and its warps, at their first instruction.
void start_block(Block& block, LaunchState& launch, const Kernel& kernel, std::uint64_t index,
                 std::uint32_t rank);

} // namespace warplens::machine
