// The groups of asynchronous copies to shared memory (LDGSTS) that a warp waits for. The hardware counts the
// groups on their way in one scoreboard: LDGDEPBAR ends a group, and DEPBAR waits until no more than a number
// of them are left. On the clock each of a warp's last groups has a register of its own.
#pragma once

#include "model/sm/instruction.h"
#include "sass/code_table.h"

#include <algorithm>
#include <cstdint>

namespace warplens::model {

/// Says what an instruction does with the groups.
/// `arrives`: ARRIVES.LDGSTSBAR, which arrives at a barrier in shared memory when the copies are there. All
/// barriers are the block's here, and the warp waits for its copies before it.
enum class CopyRole : std::uint8_t { none, copies, ends_group, awaits, arrives };

inline CopyRole copy_role(const sass::Instruction& instruction) {
  switch (instruction.kind) {
  case sass::InstructionClass::barrier:
    return sass::name_of(instruction) == "ARRIVES" ? CopyRole::arrives : CopyRole::none;
  case sass::InstructionClass::copy_to_shared: return CopyRole::copies;
  case sass::InstructionClass::end_group: return CopyRole::ends_group;
  case sass::InstructionClass::await_group: return CopyRole::awaits;
  default: return CopyRole::none;
  }
}

/// The registers for groups; where a warp has more of them on their way, two share one.
inline constexpr std::uint32_t copy_registers = 4;

/// The register, from 0, of a warp's group.
constexpr std::int16_t copy_register(std::uint32_t group) {
  return std::int16_t(group % copy_registers);
}

/// Returns the number of groups after another one ended; it stays below 256.
constexpr std::uint8_t with_one_more_group(std::uint8_t ended) {
  return std::uint8_t(ended == 255 ? 256 - copy_registers : ended + 1);
}
static_assert(256 % copy_registers == 0);

/// Adds to an instruction's sources the registers, from `first` on, of the groups that it waits for: all but
/// the last `pending` of the `ended` groups. Earlier groups than the registers' are there: a warp's copies
/// are done in their order.
inline void add_awaited_groups(std::uint32_t ended, std::uint32_t pending, std::int16_t first,
                               Registers& sources) {
  auto* source = std::ranges::find(sources, Instruction::none);
  for (std::uint32_t back = pending + 1; back <= std::min(ended, copy_registers); ++back)
    if (source != sources.end())
      *source++ = std::int16_t(first + copy_register(ended - back));
}

/// Sets the register that a copy writes, or those that an instruction waits for.
inline void put_copy_registers(CopyRole role, std::uint32_t ended, std::uint32_t pending, std::int16_t first,
                               Instruction& instruction) {
  if (role == CopyRole::copies)
    instruction.result = std::int16_t(first + copy_register(ended));
  else if (role == CopyRole::awaits)
    add_awaited_groups(ended, pending, first, instruction.sources);
  else if (role == CopyRole::arrives) // also those of the group that it ends
    add_awaited_groups(ended + 1, 0, first, instruction.sources);
}

} // namespace warplens::model
