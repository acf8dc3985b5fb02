#include "model/code/marked_paths.h"

#include "model/code/marks.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

namespace warplens::model {
namespace {

/// The costs, in instructions, of an execution of a body too many and of one that is missing.
constexpr std::uint64_t cost_of_extra = 1'000'000, cost_of_missing = 4 * cost_of_extra;
/// A longer repetition of loops within one path is cut, so that paths stay in memory.
constexpr std::uint64_t max_repeated_blocks = 1 << 20;
/// A search that passes more states than these gives up on the marks.
constexpr std::size_t max_states = 1 << 18;
/// More paths are not remembered.
constexpr std::size_t max_remembered = 1 << 16;

} // namespace

MarkedPaths::MarkedPaths(const Code& code, std::vector<bool> is_passable)
    : code_(code), is_passable_(std::move(is_passable)),
      executions_(executions_of_blocks(code, is_passable_)) {
  for (std::uint32_t block = 0; block < executions_.size(); ++block)
    if (executions_[block] != 0) {
      std::uint64_t& most = max_executions_[code.mark_of_block[block]];
      most = std::max<std::uint64_t>(most, executions_[block]);
    }
}

const MarkedPaths::BlockPath& MarkedPaths::find(std::optional<std::uint32_t> last,
                                                std::optional<std::uint32_t> to,
                                                const ExecutedMarks& executed) {
  if (found_.size() >= max_remembered)
    found_.clear();
  const auto [found, is_new] = found_.try_emplace({last, to, executed});
  if (is_new) {
    found->second = path_with(last, to, executed).value_or(BlockPath{{}, executed});
    add_other_sides(last, to, found->second);
  }
  return found->second;
}

/// Adds bodies of which no path leads through all: where lanes diverge, a warp executes one side of a branch
/// after the other.
void MarkedPaths::add_other_sides(std::optional<std::uint32_t> last, std::optional<std::uint32_t> to,
                                  BlockPath& path) const {
  for (bool is_other = true; is_other && !path.left.empty();) {
    const auto other = path_with(last, to, path.left);
    is_other = other && other->left != path.left;
    if (!is_other)
      return;
    const auto [fork, other_fork] = std::ranges::mismatch(path.blocks, other->blocks);
    std::vector<std::uint32_t> side;
    std::copy_if(other_fork, other->blocks.end(), std::back_inserter(side), [&](std::uint32_t block) {
      return std::find(fork, path.blocks.end(), block) == path.blocks.end();
    });
    if (side.empty())
      return;
    path.blocks.insert(fork, side.begin(), side.end());
    path.left = other->left;
  }
}

/// Returns the executions that a search counts: of long loops, a few passes.
MarkedPaths::Wanted MarkedPaths::wanted_of(const ExecutedMarks& executed) const {
  Wanted wanted;
  for (const auto& [mark, count] : executed)
    if (const auto most = max_executions_.find(mark); most != max_executions_.end())
      wanted.emplace_back(mark, std::min(count, 2 * most->second + 8));
  return wanted;
}

/// Finds a path with few passes of the long loops, then one that leaves a whole number of passes to add.
std::optional<MarkedPaths::BlockPath> MarkedPaths::path_with(std::optional<std::uint32_t> last,
                                                             std::optional<std::uint32_t> to,
                                                             const ExecutedMarks& executed) const {
  Wanted wanted = wanted_of(executed);
  auto path = search(last, to, wanted);
  if (!path)
    return search(last, to, {});
  bool is_cut = false;
  for (auto& [mark, count] : wanted) {
    const std::uint64_t rest = executed.at(mark) - count;
    if (const auto cycle = cycle_in(*path, mark); cycle && rest != 0) {
      count += rest % cycle->executions;
      is_cut = true;
    }
  }
  if (is_cut)
    path = search(last, to, wanted);
  if (!path)
    return search(last, to, {});
  std::uint64_t room = max_repeated_blocks;
  for (const auto& [mark, count] : wanted) {
    const std::uint64_t rest = executed.at(mark) - count;
    const auto cycle = cycle_in(*path, mark);
    if (rest == 0 || !cycle)
      continue;
    const std::size_t blocks = cycle->end - cycle->begin;
    const std::uint64_t passes = std::min(rest / cycle->executions, room / blocks);
    const auto begin = path->blocks.begin() + std::ptrdiff_t(cycle->begin);
    const std::vector<std::uint32_t> pass(begin, begin + std::ptrdiff_t(blocks));
    std::vector<std::uint32_t> repeated;
    repeated.reserve(passes * blocks);
    for (std::uint64_t i = 0; i < passes; ++i)
      repeated.insert(repeated.end(), pass.begin(), pass.end());
    path->blocks.insert(path->blocks.begin() + std::ptrdiff_t(cycle->begin), repeated.begin(),
                        repeated.end());
    room -= passes * blocks;
  }
  for (const auto& [mark, count] : executed)
    if (!max_executions_.contains(mark))
      path->left[mark] = count;
  return path;
}

/// Returns the pass of the loop that executes the body most often.
std::optional<MarkedPaths::Cycle> MarkedPaths::cycle_in(const BlockPath& path, std::uint32_t mark) const {
  std::optional<Cycle> best;
  std::map<std::uint32_t, std::size_t> latest; // by block
  for (std::size_t i = 0; i < path.blocks.size(); ++i) {
    const std::uint32_t block = path.blocks[i];
    if (code_.mark_of_block[block] != mark || executions_[block] == 0)
      continue;
    if (const auto before = latest.find(block); before != latest.end()) {
      Cycle cycle{before->second, i};
      for (std::size_t at = cycle.begin; at < cycle.end; ++at)
        if (code_.mark_of_block[path.blocks[at]] == mark)
          cycle.executions += executions_[path.blocks[at]];
      if (!best || cycle.executions > best->executions)
        best = cycle;
    }
    latest[block] = i;
  }
  return best;
}

/// Finds the cheapest path (Dijkstra): a state is a block and the executions that are left before it.
std::optional<MarkedPaths::BlockPath> MarkedPaths::search(std::optional<std::uint32_t> last,
                                                          std::optional<std::uint32_t> to,
                                                          const Wanted& wanted) const {
  const sass::Kernel& kernel = code_.kernel;
  std::uint64_t all_left = 0;          // of each wanted mark one digit
  std::vector<std::uint64_t> digit_of; // the value of its lowest step
  std::uint64_t next_digit = 1;
  for (const auto& [mark, count] : wanted) {
    digit_of.push_back(next_digit);
    all_left += count * next_digit;
    if (next_digit > max_states)
      return std::nullopt;
    next_digit *= count + 1;
  }
  const auto left_of = [&](std::uint64_t left, std::size_t i) {
    return left / digit_of[i] % (wanted[i].second + 1);
  };

  struct State {
    std::uint32_t block = 0; ///< none: the end of the path
    std::uint64_t left = 0;
    std::uint32_t before = sass::none; ///< index into `states`
  };
  using Entry = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>; // cost, then a State
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<State> states;
  std::unordered_set<std::uint64_t> seen;
  const auto end_at = [&](std::uint64_t cost, std::uint64_t left, std::uint32_t before) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      cost += left_of(left, i) * cost_of_missing;
    queue.emplace(cost, left, sass::none, before);
  };
  const auto go_on = [&](std::uint64_t cost, std::uint64_t left, std::uint32_t before,
                         std::span<const std::uint32_t> successors) {
    for (const std::uint32_t next : successors)
      if (to && next == *to)
        end_at(cost, left, before);
      else if (is_passable_[next])
        queue.emplace(cost, left, next, before);
  };
  if (kernel.blocks.empty())
    return std::nullopt;
  if (last)
    go_on(0, all_left, sass::none, kernel.successors_of(kernel.blocks[*last]));
  else
    go_on(0, all_left, sass::none, first_block);
  if (last && !to && kernel.blocks[*last].successor_count == 0)
    end_at(0, all_left, sass::none);
  while (!queue.empty()) {
    auto [cost, left, block, before] = queue.top();
    queue.pop();
    if (block == sass::none) {
      BlockPath path;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (const std::uint64_t missing = left_of(left, i); missing != 0)
          path.left[wanted[i].first] = missing;
      for (; before != sass::none; before = states[before].before)
        path.blocks.push_back(states[before].block);
      std::ranges::reverse(path.blocks);
      return path;
    }
    if (!seen.insert(left * kernel.blocks.size() + block).second)
      continue;
    if (states.size() == max_states)
      return std::nullopt;
    const auto state = std::uint32_t(states.size());
    states.push_back({block, left, before});
    const sass::Block& of = kernel.blocks[block];
    cost += of.end - of.begin;
    if (!executions_.empty() && executions_[block] != 0) {
      const auto mark = std::ranges::find(wanted, code_.mark_of_block[block], &Wanted::value_type::first);
      std::uint64_t taken = 0;
      if (mark != wanted.end()) {
        const auto i = std::size_t(mark - wanted.begin());
        taken = std::min<std::uint64_t>(executions_[block], left_of(left, i));
        left -= taken * digit_of[i];
      }
      cost += (executions_[block] - taken) * cost_of_extra;
    }
    if (!to && (of.how == sass::BlockEnd::exit || of.successor_count == 0))
      end_at(cost, left, state);
    go_on(cost, left, state, kernel.successors_of(of));
  }
  return std::nullopt;
}

} // namespace warplens::model
