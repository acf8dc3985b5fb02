#include "model/code/moved_instructions.h"

#include "model/code/replace_instructions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace warplens::model {
namespace {

using sass::InstructionClass;

/// The stall behind a product of 64 bits, until the next instruction can take it as an address.
constexpr std::uint8_t address_stall = 5;

bool overlap(sass::RegisterSpan a, sass::RegisterSpan b) {
  return a.file == b.file && a.first < b.first + b.count && b.first < a.first + a.count;
}

template <std::size_t n> bool has(const sass::RegisterList<n>& list, sass::RegisterSpan registers) {
  return std::ranges::any_of(list, [&](sass::RegisterSpan span) { return overlap(span, registers); });
}

bool may_compute_address(InstructionClass kind) {
  return kind == InstructionClass::wide_integer || kind == InstructionClass::multiply_add ||
         kind == InstructionClass::alu;
}

/// Slots of a block with one address.
struct Group {
  std::vector<std::uint32_t> instructions; ///< ascending
  sass::RegisterSpan address;
  int added = 0; ///< instructions for the address
};

/// Returns whether the block has a reader of the register other than the group's instructions, from behind
/// `at` until something else is written there.
bool has_other_reader(const sass::Kernel& kernel, const sass::Block& block, std::uint32_t at,
                      const Group& group) {
  for (std::uint32_t i = at + 1; i < block.end; ++i) {
    const sass::Instruction& instruction = kernel.instructions[i];
    if (has(instruction.reads, group.address) && std::ranges::count(group.instructions, i) == 0)
      return true;
    if (has(instruction.writes, group.address))
      return false;
  }
  return false;
}

/// Returns the instructions of the block that compute the group's address alone, the last ones first.
std::vector<std::uint32_t> producers_of(const sass::Kernel& kernel, const sass::Block& block,
                                        const Group& group) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = group.instructions.front(); i-- > block.begin && int(found.size()) < -group.added;) {
    const sass::Instruction& instruction = kernel.instructions[i];
    if (!has(instruction.writes, group.address))
      continue;
    if (!may_compute_address(instruction.kind) || has_other_reader(kernel, block, i, group))
      break;
    found.push_back(i);
    if (has(instruction.reads, group.address))
      continue; // the upper half of a sum reads the carry of the lower one
  }
  return found;
}

/// Rebuilds the kernel's instructions with some left out and some put before others.
void rebuild(Code& code, const std::vector<bool>& removed, const std::vector<std::uint32_t>& added_before) {
  sass::Kernel& kernel = code.kernel;
  std::vector<sass::Instruction> instructions;
  std::vector<std::uint32_t> now(kernel.instructions.size() + 1);
  std::uint8_t wait_mask = 0; // of what was removed
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    now[i] = std::uint32_t(instructions.size());
    const sass::Instruction& instruction = kernel.instructions[i];
    if (removed[i]) {
      wait_mask |= instruction.control.wait_mask;
      continue;
    }
    for (std::uint32_t n = 0; n < added_before[i]; ++n) {
      sass::Instruction address;
      address.kind = InstructionClass::wide_integer;
      address.address = instruction.address;
      address.position = instruction.position;
      address.control.stall = address_stall;
      instructions.push_back(address);
    }
    instructions.push_back(instruction);
    instructions.back().control.wait_mask |= std::exchange(wait_mask, std::uint8_t{0});
  }
  now.back() = std::uint32_t(instructions.size());
  // A slot's instruction stays behind those that were put before it.
  for (MemorySlot& slot : code.slots)
    slot.instruction = now[slot.instruction] + added_before[slot.instruction];
  replace_instructions(kernel, std::move(instructions), now);
}

} // namespace

void move_instructions(Code& code, std::span<const MovedSlot> moved) {
  sass::Kernel& kernel = code.kernel;
  std::vector<bool> removed(kernel.instructions.size());
  std::vector<std::uint32_t> added_before(kernel.instructions.size());
  std::map<std::pair<std::uint32_t, std::uint8_t>, Group> groups; // by block and address register
  for (const MovedSlot& one : moved) {
    const std::uint32_t at = code.slots[one.slot].instruction;
    sass::Instruction& instruction = kernel.instructions[at];
    instruction.kind = one.kind;
    instruction.word = {};
    if (instruction.reads.size() == 0 || instruction.reads[0].file != sass::RegisterFile::general)
      continue;
    const auto block =
        std::uint32_t(std::ranges::upper_bound(code.first_slot, one.slot) - code.first_slot.begin() - 1);
    Group& group = groups[{block, instruction.reads[0].first}];
    group.instructions.push_back(at);
    group.address = instruction.reads[0];
    group.added = int(std::lround(one.address_instructions));
  }
  for (auto& [key, group] : groups) {
    std::ranges::sort(group.instructions);
    if (group.added > 0)
      added_before[group.instructions.front()] += std::uint32_t(group.added);
    else if (group.added < 0)
      for (const std::uint32_t producer : producers_of(kernel, kernel.blocks[key.first], group))
        removed[producer] = true;
  }
  rebuild(code, removed, added_before);
}

} // namespace warplens::model
