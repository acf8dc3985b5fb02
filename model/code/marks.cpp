#include "model/code/marks.h"

#include "model/code/source_lines.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace warplens::model {
namespace {

/// The cost, in instructions, of a body that was not executed, and of missing one that was.
constexpr std::uint64_t detour = 1'000'000;
/// A longer repetition of loops within one way is cut, so that paths stay in memory.
constexpr std::uint64_t max_repeated_blocks = 1 << 20;

std::uint32_t size_of(const sass::Block& block) {
  return block.end - block.begin;
}

} // namespace

void find_marked_blocks(const sass::CodeTable& table, std::span<const MarkedLines> marks, Code& code) {
  code.mark_of_block.assign(marks.empty() ? 0 : code.kernel.blocks.size(), sass::none);
  if (marks.empty())
    return;
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
      if (2 * count > size_of(of))
        code.mark_of_block[block] = mark;
  }
}

MarkedWays::MarkedWays(const Code& code, std::vector<bool> is_passable)
    : code_(code), is_passable_(std::move(is_passable)), loop_of_(code.kernel.blocks.size(), sass::none) {
  if (!code.mark_of_block.empty())
    find_loops();
}

/// Finds each mark's loops; the smallest has the iterations that are left over by larger, unrolled ones.
void MarkedWays::find_loops() {
  for (std::uint32_t block = 0; block < code_.mark_of_block.size(); ++block) {
    if (code_.mark_of_block[block] == sass::none || !is_passable_[block] || loop_of_[block] != sass::none)
      continue;
    auto loop = loop_at(block);
    if (!loop)
      continue;
    for (const std::uint32_t other : loop->blocks)
      if (loop_of_[other] == sass::none)
        loop_of_[other] = std::uint32_t(loops_.size());
    loops_.push_back(std::move(*loop));
  }
  std::map<std::uint32_t, std::vector<Loop*>> of_mark;
  for (Loop& loop : loops_)
    of_mark[loop.mark].push_back(&loop);
  for (auto& [mark, loops] : of_mark) {
    const Loop& smallest =
        **std::ranges::min_element(loops, {}, [](const Loop* one) { return one->instructions; });
    const std::uint32_t least = smallest.instructions;
    for (Loop* const loop : loops)
      loop->unrolled = loops.size() == 1 ? copies_in(*loop) : (loop->instructions + least / 2) / least;
  }
}

/// Returns the cycle through this block with the fewest blocks.
std::optional<MarkedWays::Loop> MarkedWays::loop_at(std::uint32_t block) const {
  std::vector<std::uint32_t> before(code_.kernel.blocks.size(), sass::none);
  std::queue<std::uint32_t> queue({block});
  while (!queue.empty()) {
    const std::uint32_t at = queue.front();
    queue.pop();
    for (const std::uint32_t next : code_.kernel.successors_of(code_.kernel.blocks[at])) {
      if (!is_passable_[next] || before[next] != sass::none)
        continue;
      before[next] = at;
      queue.push(next);
    }
  }
  if (before[block] == sass::none)
    return std::nullopt;
  Loop loop{.mark = code_.mark_of_block[block]};
  std::uint32_t at = block;
  do {
    loop.blocks.push_back(at);
    loop.instructions += size_of(code_.kernel.blocks[at]);
    at = before[at];
  } while (at != block);
  std::ranges::reverse(loop.blocks);
  return loop;
}

/// Returns how many copies of its body a loop has, of which there is no other one to compare with: of each of
/// the operations that come out of a line of the body, a multiple. The loop's own counting is of integers.
std::uint32_t MarkedWays::copies_in(const Loop& loop) const {
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t> counts; // by position and operation
  for (const std::uint32_t block : loop.blocks)
    for (std::uint32_t i = code_.kernel.blocks[block].begin; i < code_.kernel.blocks[block].end; ++i) {
      const sass::Instruction& instruction = code_.kernel.instructions[i];
      switch (instruction.kind) {
      case sass::InstructionClass::fp32:
      case sass::InstructionClass::fp16:
      case sass::InstructionClass::fp64:
      case sass::InstructionClass::special_function:
      case sass::InstructionClass::conversion:
      case sass::InstructionClass::tensor:
      case sass::InstructionClass::shuffle: ++counts[{instruction.position, instruction.operation}]; break;
      default: break;
      }
    }
  std::uint32_t copies = 0;
  for (const auto& [place, count] : counts)
    copies = std::gcd(copies, count);
  return std::max(copies, 1u);
}

/// Returns how often each loop is passed: the most unrolled ones take as many iterations as they can.
MarkedWays::Passes MarkedWays::passes_of(const ExecutedMarks& executed) const {
  Passes passes(loops_.size());
  for (auto [mark, count] : executed) {
    std::vector<std::uint32_t> of_mark;
    for (std::uint32_t loop = 0; loop < loops_.size(); ++loop)
      if (loops_[loop].mark == mark)
        of_mark.push_back(loop);
    std::ranges::stable_sort(of_mark, std::ranges::greater(),
                             [&](std::uint32_t loop) { return loops_[loop].unrolled; });
    for (const std::uint32_t loop : of_mark) {
      const std::uint64_t unrolled = loops_[loop].unrolled;
      passes[loop] = loop == of_mark.back() ? (count + unrolled - 1) / unrolled : count / unrolled;
      count -= std::min(count, passes[loop] * unrolled);
    }
  }
  return passes;
}

std::optional<std::vector<std::uint32_t>> MarkedWays::find(std::span<const std::uint32_t> from,
                                                           std::optional<std::uint32_t> to,
                                                           ExecutedMarks& executed) const {
  const Passes passes = passes_of(executed);
  std::vector<bool> is_wanted(code_.kernel.blocks.size());
  for (std::uint32_t block = 0; block < code_.mark_of_block.size(); ++block)
    is_wanted[block] = executed.contains(code_.mark_of_block[block]) &&
                       (loop_of_[block] == sass::none || passes[loop_of_[block]] != 0);
  const auto way = short_way(from, to, is_wanted);
  if (!way)
    return std::nullopt;
  std::vector<std::uint32_t> repeated;
  std::vector<bool> is_passed(loops_.size());
  std::uint64_t left = max_repeated_blocks;
  for (const std::uint32_t block : *way) {
    if (!code_.mark_of_block.empty())
      executed.erase(code_.mark_of_block[block]);
    if (const std::uint32_t number = loop_of_[block]; number != sass::none && !is_passed[number]) {
      is_passed[number] = true;
      std::vector<std::uint32_t> cycle = loops_[number].blocks;
      std::ranges::rotate(cycle, std::ranges::find(cycle, block));
      const std::uint64_t further =
          std::min<std::uint64_t>(passes[number] == 0 ? 0 : passes[number] - 1, left / cycle.size());
      for (std::uint64_t pass = 0; pass < further; ++pass)
        repeated.insert(repeated.end(), cycle.begin(), cycle.end());
      left -= further * cycle.size();
    }
    repeated.push_back(block);
  }
  return repeated;
}

/// Finds the way with the lowest cost (Dijkstra).
std::optional<std::vector<std::uint32_t>> MarkedWays::short_way(std::span<const std::uint32_t> from,
                                                                std::optional<std::uint32_t> to,
                                                                const std::vector<bool>& is_wanted) const {
  using Entry = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; // cost, block, step before
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  struct Step {
    std::uint32_t block = 0;
    std::uint32_t before = 0; ///< index into `steps`, or none
  };
  std::vector<Step> steps; // in the order of their costs
  std::vector<bool> seen(code_.kernel.blocks.size());
  const auto way_to = [&](std::uint32_t step) {
    std::vector<std::uint32_t> way;
    for (; step != sass::none; step = steps[step].before)
      way.push_back(steps[step].block);
    std::ranges::reverse(way);
    return way;
  };
  const auto go_on = [&](std::uint64_t cost, std::uint32_t step, std::span<const std::uint32_t> successors) {
    // A loop that has been passed may be left.
    const std::uint32_t loop = step == sass::none ? sass::none : loop_of_[steps[step].block];
    const bool may_want = std::ranges::any_of(successors, [&](std::uint32_t next) {
      return is_wanted[next] && (loop == sass::none || loop_of_[next] != loop);
    });
    for (const std::uint32_t next : successors) {
      const bool is_marked = !code_.mark_of_block.empty() && code_.mark_of_block[next] != sass::none;
      const bool is_detour = is_marked ? !is_wanted[next] : may_want;
      queue.emplace(cost + (is_detour ? detour : 0), next, step);
    }
  };
  go_on(0, sass::none, from);
  while (!queue.empty()) {
    const auto [cost, block, before] = queue.top();
    queue.pop();
    if (to && block == *to)
      return way_to(before);
    if (seen[block] || !is_passable_[block])
      continue;
    seen[block] = true;
    const sass::Block& of = code_.kernel.blocks[block];
    const auto step = std::uint32_t(steps.size());
    steps.push_back({block, before});
    if (!to && (of.how == sass::BlockEnd::exit || of.successor_count == 0))
      return way_to(step);
    go_on(cost + size_of(of), step, code_.kernel.successors_of(of));
  }
  return std::nullopt;
}

} // namespace warplens::model
