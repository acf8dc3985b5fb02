// The groups of asynchronous copies to shared memory (LDGSTS), and those of asynchronous products of warp
// groups (HGMMA), that a warp waits for. The hardware counts the groups on their way in one scoreboard for
// each: LDGDEPBAR, or a product with a scoreboard, ends a group, and DEPBAR, or WARPGROUP.DEPBAR, waits until
// no more than a number of them are left. On the clock each of a warp's last groups has a register of its
// own.
#pragma once

#include "model/sm/instruction.h"
#include "sass/code_table.h"

#include <algorithm>
#include <cstdint>

namespace warplens::model {

/// Says what an instruction does with the groups of copies, or with those of products.
/// `arrives`: ARRIVES.LDGSTSBAR, which arrives at a barrier in shared memory when the copies are there. Where
/// it is not known which phase it belongs to, all barriers are the block's, and the warp waits for its copies
/// before it; else CopiedArrivals has it.
enum class GroupRole : std::uint8_t {
  none,
  copies,
  ends_group,
  awaits,
  arrives,
  multiplies,
  ends_products, ///< a product that is its group's last
  awaits_products
};

inline GroupRole group_role(const sass::Instruction& instruction) {
  constexpr std::uint32_t no_scoreboard = 7;
  switch (instruction.kind) {
  case sass::InstructionClass::barrier:
    return sass::name_of(instruction) == "ARRIVES" ? GroupRole::arrives : GroupRole::none;
  case sass::InstructionClass::copy_to_shared:
    // Those by the unit for copies of many bytes belong to a phase of a barrier, and to no group.
    return sass::name_of(instruction).starts_with('U') ? GroupRole::none : GroupRole::copies;
  case sass::InstructionClass::end_group: return GroupRole::ends_group;
  case sass::InstructionClass::await_group: return GroupRole::awaits;
  case sass::InstructionClass::tensor:
    if (!sass::name_of(instruction).ends_with("GMMA"))
      return GroupRole::none;
    return instruction.word.bits(84, 3) == no_scoreboard ? GroupRole::multiplies : GroupRole::ends_products;
  case sass::InstructionClass::wait:
    return sass::name_of(instruction) == "WARPGROUP" && instruction.word.bit(47) ? GroupRole::awaits_products
                                                                                 : GroupRole::none;
  default: return GroupRole::none;
  }
}

/// The registers for groups: where a warp has more of them on their way, two share one.
struct GroupRegisters {
  std::int16_t first;
  std::uint32_t count;

  constexpr std::int16_t operator[](std::uint32_t group) const {
    return std::int16_t(first + std::int16_t(group % count));
  }
};
inline constexpr std::uint32_t copy_registers = 8, product_registers = 2;

/// Returns the number of groups after another one ended; it stays below 256.
constexpr std::uint8_t with_one_more_group(std::uint8_t ended) {
  return std::uint8_t(ended == 255 ? 256 - copy_registers : ended + 1);
}
static_assert(256 % copy_registers == 0 && copy_registers % product_registers == 0);

/// Adds to an instruction's sources the registers of the groups that it waits for: all but the last `pending`
/// of the `ended` groups, as many of the last ones as there is room for; one place stays free for accesses of
/// which the instruction is not known. Earlier groups are there: a warp's copies, and its products, are done
/// in their order.
inline void add_awaited_groups(std::uint32_t ended, std::uint32_t pending, GroupRegisters registers,
                               Registers& sources) {
  auto* source = std::ranges::find(sources, Instruction::none);
  for (std::uint32_t back = pending + 1; back <= std::min(ended, registers.count); ++back)
    if (sources.end() - source > 1)
      *source++ = registers[ended - back];
}

/// Returns whether an instruction's group is one of products.
constexpr bool is_of_products(GroupRole role) {
  return role >= GroupRole::multiplies;
}
constexpr bool ends_group(GroupRole role) {
  return role == GroupRole::ends_group || role == GroupRole::arrives || role == GroupRole::ends_products;
}

/// Sets the register that an instruction of a group writes, or those that it waits for. `ended`: the warp's
/// groups of that kind so far.
inline void put_group_registers(GroupRole role, std::uint32_t ended, std::uint32_t pending,
                                GroupRegisters registers, Instruction& instruction) {
  if (role == GroupRole::copies || role == GroupRole::multiplies || role == GroupRole::ends_products)
    instruction.result = registers[ended];
  else if (role == GroupRole::awaits || role == GroupRole::awaits_products)
    add_awaited_groups(ended, pending, registers, instruction.sources);
  else if (role == GroupRole::arrives) // also those of the group that it ends
    add_awaited_groups(ended + 1, 0, registers, instruction.sources);
}

} // namespace warplens::model
