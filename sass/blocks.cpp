#include "sass/blocks.h"

#include <algorithm>

namespace warplens::sass {
namespace {

/// Returns how control leaves the instruction by its operation; BlockEnd::falls_through if it always goes on
/// with the next.
BlockEnd end_by_operation(const Instruction& instruction) {
  if (instruction.guard.is_never())
    return BlockEnd::falls_through;
  if (instruction.kind == InstructionClass::exit)
    return BlockEnd::exit;
  if (instruction.kind != InstructionClass::branch)
    return BlockEnd::falls_through;
  const std::string_view name = name_of(instruction);
  if (name == "BRA")
    return BlockEnd::branch;
  if (name == "BRX" || name == "JMX" || name == "JMP")
    return BlockEnd::indirect;
  if (name == "RET")
    return BlockEnd::returns;
  if (name.starts_with("CALL"))
    return instruction.target == none ? BlockEnd::indirect_call : BlockEnd::call;
  if (name == "BSYNC" || name == "WARPSYNC")
    return BlockEnd::reconverge;
  return BlockEnd::falls_through;
}

/// Returns whether some lanes may go on with the next instruction, instead of where the block's end leads.
bool may_go_on(const Instruction& instruction, BlockEnd end) {
  switch (end) {
  case BlockEnd::branch:
  case BlockEnd::exit:
    // The condition of a branch, besides its guard, is an operand.
    return !instruction.guard.is_always() || instruction.reads.size() != 0;
  case BlockEnd::indirect:
  case BlockEnd::returns: return !instruction.guard.is_always();
  default: return true;
  }
}

class BlockFinder {
public:
  BlockFinder(Kernel& kernel, const IndirectTargets& indirect)
      : kernel_(kernel), indirect_(indirect), begins_(kernel.instructions.size() + 1, false),
        ends_function_(kernel.instructions.size() + 1, false) {}

  void run() {
    mark();
    split();
    connect();
  }

private:
  /// Returns how control leaves an instruction. One with a table of targets is an indirect branch, also if
  /// its operation is not known. A call into the middle of a function, which ptxas makes of branches over
  /// long distances, does not return.
  BlockEnd end_of(std::uint32_t index) const {
    if (indirect_.contains(index))
      return BlockEnd::indirect;
    const BlockEnd end = end_by_operation(kernel_.instructions[index]);
    if (end != BlockEnd::call)
      return end;
    const bool calls_function =
        std::ranges::count(kernel_.functions, kernel_.instructions[index].target, &Function::begin) != 0;
    return calls_function ? BlockEnd::call : BlockEnd::branch;
  }

  void mark() {
    for (const Function& function : kernel_.functions) {
      begins_[function.begin] = true;
      ends_function_[function.end] = true;
    }
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
      const Instruction& instruction = kernel_.instructions[i];
      if (instruction.target != none)
        begins_[instruction.target] = true;
      if (end_of(i) != BlockEnd::falls_through)
        begins_[i + 1] = true;
    }
    for (const auto& [branch, targets] : indirect_)
      for (const std::uint32_t target : targets)
        begins_[target] = true;
  }

  void split() {
    block_of_.resize(kernel_.instructions.size());
    for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
      if (begins_[i] || i == 0)
        kernel_.blocks.push_back({.begin = i});
      kernel_.blocks.back().end = i + 1;
      block_of_[i] = static_cast<std::uint32_t>(kernel_.blocks.size() - 1);
    }
  }

  void connect() {
    for (Block& block : kernel_.blocks) {
      const Instruction& last = kernel_.instructions[block.end - 1];
      block.how = end_of(block.end - 1);
      block.first_successor = static_cast<std::uint32_t>(kernel_.successors.size());
      if ((block.how == BlockEnd::branch || block.how == BlockEnd::reconverge) && last.target != none)
        add(block, last.target);
      if (block.how == BlockEnd::indirect)
        if (const auto found = indirect_.find(block.end - 1); found != indirect_.end())
          for (const std::uint32_t target : found->second)
            add(block, target);
      if (may_go_on(last, block.how) && !ends_function_[block.end] && block.end < kernel_.instructions.size())
        add(block, block.end);
    }
  }

  void add(Block& block, std::uint32_t instruction) {
    const std::uint32_t successor = block_of_[instruction];
    const auto begin = kernel_.successors.begin() + block.first_successor;
    if (std::find(begin, kernel_.successors.end(), successor) != kernel_.successors.end())
      return;
    kernel_.successors.push_back(successor);
    ++block.successor_count;
  }

  Kernel& kernel_;
  const IndirectTargets& indirect_;
  std::vector<bool> begins_, ends_function_;
  std::vector<std::uint32_t> block_of_;
};

} // namespace

void find_blocks(Kernel& kernel, const IndirectTargets& indirect) {
  BlockFinder(kernel, indirect).run();
}

} // namespace warplens::sass
