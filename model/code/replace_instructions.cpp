#include "model/code/replace_instructions.h"

#include <utility>

namespace warplens::model {

void replace_instructions(sass::Kernel& kernel, std::vector<sass::Instruction> instructions,
                          std::span<const std::uint32_t> now) {
  for (sass::Instruction& instruction : instructions)
    if (instruction.target != sass::none)
      instruction.target = now[instruction.target];
  for (sass::Block& block : kernel.blocks) {
    block.begin = now[block.begin];
    block.end = now[block.end];
  }
  for (sass::Function& function : kernel.functions) {
    function.begin = now[function.begin];
    function.end = now[function.end];
  }
  kernel.instructions = std::move(instructions);
}

} // namespace warplens::model
