// Splits a kernel's instructions into basic blocks.
#pragma once

#include "sass/code_table.h"

#include <map>

namespace warplens::sass {

/// The instructions that an indirect branch may lead to, by the branch; all are indices.
using IndirectTargets = std::map<std::uint32_t, std::vector<std::uint32_t>>;

/// Fills Kernel::blocks and Kernel::successors. A block begins at each target, after each instruction that
/// control may leave, and where a function begins.
void find_blocks(Kernel& kernel, const IndirectTargets& indirect);

} // namespace warplens::sass
