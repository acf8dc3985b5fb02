// Machine code and paths through it, made in memory.
#pragma once

#include "model/code/code.h"
#include "model/snapshot/snapshot.h"
#include "numeric/random.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace warplens::test {

/// A block of made code: its instructions, and the blocks that may follow.
struct MadeBlock {
  std::vector<sass::Instruction> instructions;
  std::vector<std::uint32_t> successors;
};

/// An instruction that makes accesses with this label.
inline sass::Instruction load(std::uint8_t bytes = 4) {
  sass::Instruction made;
  made.kind = sass::InstructionClass::load_global;
  made.access_bytes = bytes;
  return made;
}

/// Returns the code; `labels` are those of its memory instructions in their order.
inline model::Code made_code(const std::vector<MadeBlock>& blocks, std::vector<std::uint32_t> labels = {}) {
  model::Code code;
  code.architecture = 80;
  auto label = labels.begin();
  for (const MadeBlock& made : blocks) {
    sass::Block& block = code.kernel.blocks.emplace_back();
    block.begin = std::uint32_t(code.kernel.instructions.size());
    code.first_slot.push_back(std::uint32_t(code.slots.size()));
    for (const sass::Instruction& instruction : made.instructions) {
      if (instruction.access_bytes != 0)
        code.slots.push_back({std::uint32_t(code.kernel.instructions.size()), *label++,
                              instruction.access_bytes, !instruction.guard.is_always()});
      code.kernel.instructions.push_back(instruction);
    }
    block.end = std::uint32_t(code.kernel.instructions.size());
    block.first_successor = std::uint32_t(code.kernel.successors.size());
    block.successor_count = std::uint32_t(made.successors.size());
    block.how = made.successors.empty() ? sass::BlockEnd::exit : sass::BlockEnd::branch;
    code.kernel.successors.insert(code.kernel.successors.end(), made.successors.begin(),
                                  made.successors.end());
  }
  code.first_slot.push_back(std::uint32_t(code.slots.size()));
  return code;
}

/// Gives each warp of the snapshot a path of its own through random code, on which each access has an
/// instruction or none.
inline void add_random_code(model::Snapshot& snapshot, Random& random) {
  model::Code code;
  code.architecture = 80;
  const bool has_phases =
      std::ranges::any_of(snapshot.warps, [](const model::Warp& warp) { return !warp.phases.empty(); });
  const auto add_instruction = [&](bool has_slot) {
    sass::Instruction made;
    // Any class but a branch: whether it makes an access does not depend on it here.
    made.kind = sass::InstructionClass(random.below(unsigned(sass::InstructionClass::nop) + 1));
    if (has_phases && made.kind == sass::InstructionClass::barrier)
      made.kind = sass::InstructionClass::nop; // warps would wait for each other both ways
    made.control.stall = std::uint8_t(random.below(16));
    made.control.write_scoreboard = std::uint8_t(random.below(8));
    made.control.read_scoreboard = std::uint8_t(random.below(8));
    made.pending = std::uint8_t(random.below(4));
    made.control.wait_mask = std::uint8_t(random.below(3) == 0 ? random.below(64) : 0);
    if (has_slot) {
      made.kind =
          random.below(4) == 0 ? sass::InstructionClass::copy_to_shared : sass::InstructionClass::load_global;
      made.control.write_scoreboard = std::uint8_t(random.below(6));
      code.slots.push_back({std::uint32_t(code.kernel.instructions.size()), 0, 4, false});
    }
    if (!has_slot && has_phases && random.below(4) == 0)
      code.tensor_memory_products[std::uint32_t(code.kernel.instructions.size())] = {
          .rows = 128, .columns = std::uint16_t(8 + 8 * random.below(32)), .in_tensor_memory = true};
    code.kernel.instructions.push_back(made);
  };
  for (std::uint32_t number = 0; number < snapshot.warps.size(); ++number) {
    model::Warp& warp = snapshot.warps[number];
    warp.path = number;
    model::Path& path = code.paths.emplace_back();
    for (std::size_t left = warp.accesses.size(); left != 0;) {
      if (random.below(8) == 0) {
        path.blocks.push_back(model::Path::unmatched);
        --left;
        continue;
      }
      code.first_slot.push_back(std::uint32_t(code.slots.size()));
      path.blocks.push_back(std::uint32_t(code.kernel.blocks.size()));
      sass::Block& block = code.kernel.blocks.emplace_back();
      block.begin = std::uint32_t(code.kernel.instructions.size());
      for (std::uint32_t i = random.below(5); i != 0; --i) {
        const bool has_slot = random.below(2) == 0;
        add_instruction(has_slot);
        if (has_slot) {
          const bool makes_access = left != 0 && random.below(4) != 0;
          path.makes_access.push_back(makes_access);
          if (makes_access && warp.accesses[warp.accesses.size() - left].kind == AccessKind::barrier) {
            code.kernel.instructions.back().kind = sass::InstructionClass::barrier;
            code.kernel.instructions.back().control.write_scoreboard = sass::Control::no_scoreboard;
            code.kernel.instructions.back().control.read_scoreboard = sass::Control::no_scoreboard;
          }
          left -= makes_access;
        }
      }
      block.end = std::uint32_t(code.kernel.instructions.size());
    }
  }
  code.first_slot.push_back(std::uint32_t(code.slots.size()));
  for (model::Warp& warp : snapshot.warps)
    for (model::Access& access : warp.accesses)
      if (access.kind == AccessKind::store)
        access.is_awaited = false;
  code.files = {"made.cu"};
  code.lines.resize(code.kernel.instructions.size());
  snapshot.code = std::make_shared<const model::Code>(std::move(code));
}

} // namespace warplens::test
