// A thread that does the work of several: which instructions it executes once for each of them, and what code
// it has then.
#pragma once

#include "model/code/code.h"

#include <cstdint>
#include <vector>

namespace warplens::model {

/// The instructions of a kernel that have copies, and the registers that these take.
struct CopiedInstructions {
  std::vector<bool> is_copied; ///< by index into sass::Kernel::instructions
  /// Registers of 32 bits whose values are alive at once at most, of those that each copy has for itself.
  std::uint32_t registers = 0;
};

/// Finds the instructions that a thread executes once for each of the threads whose work it does: accesses,
/// what computes their addresses, and what depends on the values that they load. Parameters, special
/// registers, counters of loops and branches serve all. `is_joined`: by slot, its accesses become one wide
/// access, whose values all copies take.
CopiedInstructions find_copied(const Code& code, const std::vector<bool>& is_joined);

/// Puts `copies` of each of these instructions one behind the other, as compilers do with unrolled loops:
/// copies do not wait for each other. Slots have as many copies. The paths have to be made anew.
void copy_instructions(Code& code, const CopiedInstructions& copied, std::uint32_t copies);

} // namespace warplens::model
