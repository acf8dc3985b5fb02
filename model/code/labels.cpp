#include "model/code/labels.h"

#include "sass/instruction_traits.h"
#include "support/files.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace warplens::model {
namespace {

using sass::AddressSpace;
using sass::InstructionClass;
using sass::MemoryOperation;

/// How far a compiler's line may lie from that of the access: statements of several lines.
constexpr int max_lines_away = 8;

std::optional<SlotKind> slot_kind_of(InstructionClass instruction) {
  const sass::InstructionTraits& traits = sass::traits_of(instruction);
  switch (traits.operation) {
  case MemoryOperation::load: return SlotKind::load;
  case MemoryOperation::store: return SlotKind::store;
  case MemoryOperation::atomic: return SlotKind::atomic;
  case MemoryOperation::copy:
    return instruction == InstructionClass::copy_to_shared ? std::optional(SlotKind::load) : std::nullopt;
  case MemoryOperation::none: break;
  }
  return traits.unit == sass::ExecutionUnit::barrier ? std::optional(SlotKind::barrier) : std::nullopt;
}

/// Returns the memories that the instruction may access, the likeliest first.
std::span<const SlotMemory> memories_of(InstructionClass instruction) {
  static constexpr SlotMemory all[] = {SlotMemory::global, SlotMemory::shared, SlotMemory::local};
  static constexpr SlotMemory constant[] = {SlotMemory::constant};
  switch (sass::traits_of(instruction).space) {
  case AddressSpace::generic: return all;
  case AddressSpace::shared: return std::span(all).subspan(1, 1);
  case AddressSpace::local: return std::span(all).subspan(2, 1);
  case AddressSpace::constant: return constant;
  case AddressSpace::none:
  case AddressSpace::global:
  case AddressSpace::texture: break;
  }
  return std::span(all).first(1);
}

} // namespace

std::uint32_t Labels::add(const std::string& file, std::uint32_t line, SlotKind kind, SlotMemory memory) {
  return labels_.emplace(Key{kind, memory, file_name(file), line}, std::uint32_t(labels_.size()))
      .first->second;
}

/// Looks up the places of the instruction, from the innermost function outwards.
std::optional<std::uint32_t> Labels::find(const sass::CodeTable& table,
                                          const sass::Instruction& instruction) const {
  const auto kind = slot_kind_of(instruction.kind);
  if (!kind)
    return std::nullopt;
  for (std::uint32_t at = instruction.position; at != sass::none; at = table.positions[at].inlined_at) {
    const sass::Position& position = table.positions[at];
    for (const SlotMemory memory : memories_of(instruction.kind))
      if (const auto found =
              labels_.find({*kind, memory, file_name(table.files[position.file]), position.line});
          found != labels_.end())
        return found->second;
  }
  return std::nullopt;
}

void Labels::find_slots(const sass::CodeTable& table, Code& code) const {
  std::vector<std::optional<std::uint32_t>> label_of(code.kernel.instructions.size());
  std::vector<bool> has_slot(labels_.size());
  for (std::size_t i = 0; i < label_of.size(); ++i)
    if ((label_of[i] = find(table, code.kernel.instructions[i])))
      has_slot[*label_of[i]] = true;
  for (std::size_t i = 0; i < label_of.size(); ++i) {
    const sass::Instruction& instruction = code.kernel.instructions[i];
    const auto kind = slot_kind_of(instruction.kind);
    if (label_of[i] || !kind || instruction.position == sass::none)
      continue;
    const sass::Position& position = table.positions[instruction.position];
    const std::string file = file_name(table.files[position.file]);
    int closest = max_lines_away + 1;
    for (const auto& [key, label] : labels_) {
      const auto& [key_kind, memory, key_file, line] = key;
      const int away = std::abs(int(line) - int(position.line));
      if (key_kind == *kind && key_file == file && !has_slot[label] && away < closest &&
          std::ranges::count(memories_of(instruction.kind), memory) != 0) {
        closest = away;
        label_of[i] = label;
      }
    }
  }
  code.slots.clear();
  code.first_slot.clear();
  for (const sass::Block& block : code.kernel.blocks) {
    code.first_slot.push_back(std::uint32_t(code.slots.size()));
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const sass::Instruction& instruction = code.kernel.instructions[i];
      // A constant that is loaded ahead may be one that the source, under a condition, does not load.
      const bool is_optional =
          !instruction.guard.is_always() || instruction.kind == InstructionClass::load_constant;
      if (label_of[i] && !instruction.guard.is_never())
        code.slots.push_back(
            {i, *label_of[i], std::max<std::uint8_t>(instruction.access_bytes, 1), is_optional});
    }
  }
  code.first_slot.push_back(std::uint32_t(code.slots.size()));
}

} // namespace warplens::model
