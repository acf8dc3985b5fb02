#include "model/code/copied_instructions.h"

#include "model/code/replace_instructions.h"

#include <algorithm>
#include <bitset>
#include <utility>

namespace warplens::model {
namespace {

using sass::InstructionClass;
using Registers = std::bitset<256 + 16>; // general ones, then predicates

constexpr std::size_t first_predicate = 256;

template <class Visit> void each_register(const sass::RegisterSpan& span, Visit&& visit) {
  const bool is_predicate = span.file == sass::RegisterFile::predicate;
  if (span.file != sass::RegisterFile::general && !is_predicate)
    return;
  for (unsigned i = 0; i < span.count && span.first + i < first_predicate; ++i)
    visit((is_predicate ? first_predicate + span.first % 16u : span.first) + i);
}

template <std::size_t n> bool has_any(const sass::RegisterList<n>& list, const Registers& registers) {
  bool found = false;
  for (const sass::RegisterSpan& span : list)
    each_register(span, [&](std::size_t one) { found |= one < registers.size() && registers[one]; });
  return found;
}

template <std::size_t n> void set_all(const sass::RegisterList<n>& list, Registers& registers, bool value) {
  for (const sass::RegisterSpan& span : list)
    each_register(span, [&](std::size_t one) {
      if (one < registers.size())
        registers[one] = value;
    });
}

/// Returns whether one of these serves all copies, whatever it reads.
bool is_shared_by_copies(InstructionClass kind) {
  switch (kind) {
  case InstructionClass::branch:
  case InstructionClass::barrier:
  case InstructionClass::fence:
  case InstructionClass::wait:
  case InstructionClass::end_group:
  case InstructionClass::await_group:
  case InstructionClass::exit:
  case InstructionClass::special_register:
  case InstructionClass::uniform:
  case InstructionClass::nop: return true;
  default: return false;
  }
}

bool computes_addresses(InstructionClass kind) {
  return kind == InstructionClass::wide_integer || kind == InstructionClass::multiply_add ||
         kind == InstructionClass::alu || kind == InstructionClass::move;
}

/// Marks what depends on loaded values; a register that something else writes no longer does.
void mark_dependent(const sass::Kernel& kernel, const std::vector<bool>& is_joined_load,
                    std::vector<bool>& is_copied) {
  Registers dependent;
  for (int round = 0; round < 2; ++round) // the second one for values that loops carry
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
      const sass::Instruction& instruction = kernel.instructions[i];
      const bool is_guarded_so = !instruction.guard.uniform && !instruction.guard.is_always() &&
                                 dependent[first_predicate + instruction.guard.predicate];
      if (!is_shared_by_copies(instruction.kind) && !is_joined_load[i] &&
          (has_any(instruction.reads, dependent) || is_guarded_so))
        is_copied[i] = true;
      if (is_copied[i] || is_joined_load[i])
        set_all(instruction.writes, dependent, true);
      else if (instruction.guard.is_always())
        set_all(instruction.writes, dependent, false);
    }
}

/// Marks what computes the addresses of copied accesses.
void mark_addresses(const Code& code, std::vector<bool>& is_copied) {
  const std::vector<sass::Instruction>& all = code.kernel.instructions;
  std::vector<bool> is_access(all.size());
  for (const MemorySlot& slot : code.slots)
    is_access[slot.instruction] = is_copied[slot.instruction];
  Registers needed;
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = all.size(); i-- > 0;) {
      const sass::Instruction& instruction = all[i];
      const bool writes = has_any(instruction.writes, needed);
      if (writes && instruction.guard.is_always())
        set_all(instruction.writes, needed, false);
      if (writes && computes_addresses(instruction.kind)) {
        is_copied[i] = true;
        set_all(instruction.reads, needed, true);
      }
      if (is_access[i] && instruction.reads.size() != 0) {
        sass::RegisterList<1> address;
        address.add(instruction.reads[0]);
        set_all(address, needed, true);
      }
    }
}

/// Returns the largest number of these registers that are alive at once.
std::uint32_t max_live(const sass::Kernel& kernel, const Registers& of) {
  std::vector<Registers> live_before(kernel.blocks.size());
  std::size_t most = 0;
  for (bool changed = true; std::exchange(changed, false);)
    for (std::size_t b = kernel.blocks.size(); b-- > 0;) {
      const sass::Block& block = kernel.blocks[b];
      Registers live;
      for (const std::uint32_t next : kernel.successors_of(block))
        live |= live_before[next];
      for (std::uint32_t i = block.end; i-- > block.begin;) {
        const sass::Instruction& instruction = kernel.instructions[i];
        most = std::max(most, (live & of).count());
        if (instruction.guard.is_always())
          set_all(instruction.writes, live, false);
        set_all(instruction.reads, live, true);
      }
      changed |= live != live_before[b];
      live_before[b] = live;
    }
  return std::uint32_t(most);
}

} // namespace

CopiedInstructions find_copied(const Code& code, const std::vector<bool>& is_joined) {
  const sass::Kernel& kernel = code.kernel;
  CopiedInstructions found;
  found.is_copied.resize(kernel.instructions.size());
  std::vector<bool> is_joined_load(kernel.instructions.size());
  for (std::size_t i = 0; i < code.slots.size(); ++i) {
    const std::uint32_t at = code.slots[i].instruction;
    if (is_shared_by_copies(kernel.instructions[at].kind))
      continue;
    (is_joined[i] ? is_joined_load : found.is_copied)[at] = true;
  }
  mark_addresses(code, found.is_copied);
  mark_dependent(kernel, is_joined_load, found.is_copied);
  Registers own;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i)
    if (found.is_copied[i] || is_joined_load[i])
      set_all(kernel.instructions[i].writes, own, true);
  for (std::size_t predicate = first_predicate; predicate < own.size(); ++predicate)
    own[predicate] = false;
  found.registers = max_live(kernel, own);
  return found;
}

void copy_instructions(Code& code, const CopiedInstructions& copied, std::uint32_t copies) {
  constexpr std::uint8_t issue_cycles = 2; // of a warp by 16 lanes
  sass::Kernel& kernel = code.kernel;
  std::vector<sass::Instruction> instructions;
  std::vector<SourceLine> lines;
  std::vector<std::uint32_t> now(kernel.instructions.size() + 1);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    now[i] = std::uint32_t(instructions.size());
    const sass::Instruction& original = kernel.instructions[i];
    const std::uint32_t times = copied.is_copied[i] ? copies : 1;
    for (std::uint32_t copy = 0; copy < times; ++copy) {
      sass::Instruction& made = instructions.emplace_back(original);
      if (times == 1)
        continue;
      // What follows the last copy waits for the first one's result, which is older.
      const int behind = int(original.control.stall) - int(issue_cycles * (times - 1));
      made.control.stall = copy + 1 == times ? std::uint8_t(std::max(1, behind))
                                             : std::min(original.control.stall, issue_cycles);
      if (copy != 0)
        made.control.wait_mask = 0;
    }
    if (i < code.lines.size())
      lines.resize(instructions.size(), code.lines[i]);
  }
  now.back() = std::uint32_t(instructions.size());
  std::vector<MemorySlot> slots;
  std::vector<std::uint32_t> first_slot;
  for (std::size_t block = 0; block + 1 < code.first_slot.size(); ++block) {
    first_slot.push_back(std::uint32_t(slots.size()));
    for (std::uint32_t i = code.first_slot[block]; i < code.first_slot[block + 1]; ++i) {
      const std::uint32_t at = code.slots[i].instruction;
      for (std::uint32_t copy = 0; copy < (copied.is_copied[at] ? copies : 1); ++copy) {
        slots.push_back(code.slots[i]);
        slots.back().instruction = now[at] + copy;
      }
    }
  }
  first_slot.push_back(std::uint32_t(slots.size()));
  code.slots = std::move(slots);
  code.first_slot = std::move(first_slot);
  code.lines = std::move(lines);
  replace_instructions(kernel, std::move(instructions), now);
}

} // namespace warplens::model
