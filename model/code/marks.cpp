#include "model/code/marks.h"

#include "sass/instruction_traits.h"
#include "support/files.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

namespace warplens::model {
namespace {

/// An operation of one line of a body: the position and the operation.
using Operation = std::pair<std::uint32_t, std::uint16_t>;
using Counts = std::map<Operation, std::map<std::uint32_t, std::uint32_t>>; // number in each block

/// Returns whether a loop's own counting never does this.
bool is_of_body(sass::InstructionClass kind) {
  switch (sass::traits_of(kind).unit) {
  case sass::ExecutionUnit::fp32:
  case sass::ExecutionUnit::fp16:
  case sass::ExecutionUnit::fp64:
  case sass::ExecutionUnit::special_function:
  case sass::ExecutionUnit::wide_conversion:
  case sass::ExecutionUnit::tensor:
  case sass::ExecutionUnit::shuffle: return true;
  default: return false;
  }
}

/// Returns whether a warp can come back to the block without an access.
bool is_in_cycle(const Code& code, const std::vector<bool>& is_passable, std::uint32_t block) {
  std::vector<bool> seen(code.kernel.blocks.size());
  std::vector<std::uint32_t> stack{block};
  while (!stack.empty()) {
    const std::uint32_t at = stack.back();
    stack.pop_back();
    for (const std::uint32_t next : code.kernel.successors_of(code.kernel.blocks[at])) {
      if (next == block)
        return true;
      if (!is_passable[next] || seen[next])
        continue;
      seen[next] = true;
      stack.push_back(next);
    }
  }
  return false;
}

/// Counts operations of the body in its blocks, and with `any_kind` integer ones, which a loop's counting may
/// share.
Counts count_operations(const Code& code, std::span<const std::uint32_t> blocks, bool any_kind) {
  Counts counts;
  for (const std::uint32_t block : blocks)
    for (std::uint32_t i = code.kernel.blocks[block].begin; i < code.kernel.blocks[block].end; ++i) {
      const sass::Instruction& instruction = code.kernel.instructions[i];
      if (is_of_body(instruction.kind) || (any_kind && instruction.kind != sass::InstructionClass::branch))
        ++counts[{instruction.position, instruction.operation}][block];
    }
  return counts;
}

/// Returns how many copies of a body the one block of a loop holds, in which each operation occurs a multiple
/// of `operations` times: without a remainder, that number divides all numbers of iterations, and it is how
/// often the loop's counter steps at once, if an addition tells that.
std::uint32_t copies_without_remainder(const Code& code, std::uint32_t block, std::uint32_t operations) {
  const Code::MarkedBody& body = code.marked[code.mark_of_block[block]];
  const auto possible = std::uint32_t(std::gcd(body.divisor, std::uint64_t{operations}));
  std::uint32_t copies = 0;
  for (const std::uint32_t steps : code.counter_steps[block])
    if (body.step != 0 && steps % body.step == 0 && possible % (steps / body.step) == 0)
      copies = std::max(copies, steps / body.step);
  return copies != 0 ? copies : possible;
}

/// Returns by how much an instruction changes a register of its own, as a loop's counter steps; 0: it does
/// not.
std::uint32_t step_of(const sass::Instruction& instruction) {
  const bool counts = instruction.addend != 0 && instruction.writes.size() != 0 &&
                      instruction.reads.size() != 0 && instruction.writes[0] == instruction.reads[0];
  return counts ? std::uint32_t(std::abs(std::int64_t{instruction.addend})) : 0;
}

/// Tells a loop's copies of its body from the operation that it has most of: a block with twice as many of
/// them as another has twice as many copies.
void count_copies(const Code& code, const Counts& counts, std::span<const std::uint32_t> in_cycles,
                  std::vector<std::uint32_t>& executions) {
  const std::map<std::uint32_t, std::uint32_t>* most = nullptr;
  std::uint32_t max_in_cycles = 0;
  for (const auto& [operation, blocks] : counts) {
    std::uint32_t sum = 0;
    for (const std::uint32_t block : in_cycles)
      if (const auto found = blocks.find(block); found != blocks.end())
        sum += found->second;
    if (sum > max_in_cycles) {
      max_in_cycles = sum;
      most = &blocks;
    }
  }
  if (most == nullptr)
    return;
  if (most->size() == 1) { // there is nothing to compare with but the other operations
    std::uint32_t copies = 0;
    for (const auto& [operation, blocks] : counts)
      for (const std::uint32_t block : in_cycles)
        if (const auto found = blocks.find(block); found != blocks.end())
          copies = std::gcd(copies, found->second);
    const std::uint32_t block = most->begin()->first;
    executions[block] = copies_without_remainder(code, block, copies);
    return;
  }
  std::uint32_t divisor = 0;
  for (const auto& [block, count] : *most)
    divisor = std::gcd(divisor, count);
  for (const auto& [block, count] : *most)
    executions[block] = count / divisor;
}

} // namespace

void find_marked_blocks(const sass::CodeTable& table, std::span<const MarkedLines> marks, Code& code) {
  code.marked.resize(marks.size());
  for (std::size_t mark = 0; mark < marks.size(); ++mark)
    code.marked[mark].step = marks[mark].step;
  code.mark_of_block.assign(marks.empty() ? 0 : code.kernel.blocks.size(), sass::none);
  if (marks.empty())
    return;
  code.counter_steps.assign(code.kernel.blocks.size(), {});
  const auto innermost_at = [&](std::uint32_t at) {
    std::uint32_t innermost = sass::none;
    for (; at != sass::none; at = table.positions[at].inlined_at) {
      const sass::Position& position = table.positions[at];
      const std::string file = file_name(table.files[position.file]);
      for (std::uint32_t mark = 0; mark < marks.size(); ++mark) {
        const MarkedLines& lines = marks[mark];
        if (lines.first > position.line || lines.last < position.line || file_name(lines.file) != file)
          continue;
        if (innermost == sass::none ||
            lines.last - lines.first < marks[innermost].last - marks[innermost].first)
          innermost = mark;
      }
    }
    return innermost;
  };
  std::map<std::uint32_t, std::uint32_t> mark_at; // by position
  // A loop's counter steps in its header, which is the body's first line or the one before, unless the body
  // of a loop around it begins there.
  const auto may_count = [&](const sass::Instruction& instruction, std::uint32_t mark) {
    const std::uint32_t at = instruction.position;
    if (at == sass::none || step_of(instruction) == 0)
      return false;
    const std::uint32_t innermost = mark_at.at(at), line = table.positions[at].line;
    return innermost == mark ||
           (line + 1 == marks[mark].first && (innermost == sass::none || marks[innermost].first < line));
  };
  for (std::size_t block = 0; block < code.kernel.blocks.size(); ++block) {
    const sass::Block& of = code.kernel.blocks[block];
    std::map<std::uint32_t, std::uint32_t> instructions; // by mark
    for (std::uint32_t i = of.begin; i < of.end; ++i) {
      const std::uint32_t position = code.kernel.instructions[i].position;
      const auto [found, is_new] = mark_at.try_emplace(position, sass::none);
      if (is_new && position != sass::none)
        found->second = innermost_at(position);
      ++instructions[found->second];
    }
    for (const auto& [mark, count] : instructions)
      if (2 * count > of.end - of.begin)
        code.mark_of_block[block] = mark;
    if (const std::uint32_t mark = code.mark_of_block[block]; mark != sass::none)
      for (std::uint32_t i = of.begin; i < of.end; ++i)
        if (may_count(code.kernel.instructions[i], mark))
          code.counter_steps[block].push_back(step_of(code.kernel.instructions[i]));
  }
}

std::vector<std::uint32_t> executions_of_blocks(const Code& code, const std::vector<bool>& is_passable) {
  std::vector<std::uint32_t> executions(code.mark_of_block.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> blocks_of; // by mark
  for (std::uint32_t block = 0; block < code.mark_of_block.size(); ++block)
    if (code.mark_of_block[block] != sass::none)
      blocks_of[code.mark_of_block[block]].push_back(block);
  std::vector<bool> is_entered(code.mark_of_block.size());
  for (std::uint32_t block = 0; block < code.mark_of_block.size(); ++block)
    for (const std::uint32_t next : code.kernel.successors_of(code.kernel.blocks[block]))
      if (code.mark_of_block[block] != code.mark_of_block[next])
        is_entered[next] = true;
  for (const auto& [mark, blocks] : blocks_of) {
    std::vector<std::uint32_t> in_cycles;
    std::ranges::copy_if(blocks, std::back_inserter(in_cycles), [&](std::uint32_t block) {
      return is_passable[block] && is_in_cycle(code, is_passable, block);
    });
    if (in_cycles.empty()) {
      for (const std::uint32_t block : blocks)
        executions[block] = is_entered[block] ? 1 : 0;
      continue;
    }
    // Blocks around a loop prepare its counting with integers.
    if (const Counts counts = count_operations(code, blocks, false); !counts.empty())
      count_copies(code, counts, in_cycles, executions);
    if (std::ranges::all_of(in_cycles, [&](std::uint32_t block) { return executions[block] == 0; }))
      count_copies(code, count_operations(code, in_cycles, true), in_cycles, executions);
  }
  return executions;
}

} // namespace warplens::model
