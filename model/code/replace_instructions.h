// Replaces the instructions of a kernel by others among which they have other numbers.
#pragma once

#include "model/code/code.h"

#include <cstdint>
#include <span>
#include <vector>

namespace warplens::model {

/// Makes `instructions` the kernel's: branches still have the old numbers of their targets. `now`: the new
/// number of each old instruction, and of the end. Slots are the caller's.
void replace_instructions(sass::Kernel& kernel, std::vector<sass::Instruction> instructions,
                          std::span<const std::uint32_t> now);

} // namespace warplens::model
