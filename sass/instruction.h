// Decodes one instruction: its registers, its schedule, the bytes that it accesses.
#pragma once

#include "sass/bits.h"
#include "sass/code_table.h"

#include <optional>

namespace warplens::sass {

inline constexpr std::uint32_t instruction_bytes = 16;

struct DecodedInstruction {
  Instruction instruction;
  std::optional<std::int64_t> target; ///< the address that it branches to, or calls, or reconverges at
};

/// Decodes the instruction at an address of its section. An unknown one has class other and no registers, but
/// its guard and schedule are where all instructions have theirs.
DecodedInstruction decode_instruction(Word word, std::uint32_t address, int architecture);

} // namespace warplens::sass
