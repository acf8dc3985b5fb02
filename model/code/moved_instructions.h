// Changes a kernel's machine code as a compiler would where arrays lie elsewhere: a load from global memory
// becomes one from shared memory, and so on, and the instructions that compute its address come or go.
#pragma once

#include "model/code/code.h"

#include <cstdint>
#include <span>

namespace warplens::model {

/// An instruction of the code whose accesses go elsewhere.
struct MovedSlot {
  std::uint32_t slot = 0;                                      ///< index into Code::slots
  sass::InstructionClass kind = sass::InstructionClass::other; ///< what it becomes
  /// Instructions that compute an address there less those that the code has for one.
  double address_instructions = 0;
};

/// Changes the instructions of these slots. Slots of a block that have one address register have one address,
/// whose instructions are removed or added once. Only instructions of the slot's own block are removed that
/// nothing else there reads: what a compiler has moved out of a loop costs nothing in it. The code's paths
/// stay valid; Code::lines is set anew by find_source_lines().
void move_instructions(Code& code, std::span<const MovedSlot> moved);

} // namespace warplens::model
