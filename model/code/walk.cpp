#include "model/code/walk.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

namespace warplens::model {
namespace {

/// How many accesses behind the first unexplained one a compiler may have moved an access across.
constexpr std::uint32_t window = 256;
/// How many accesses a block that follows may leave unexplained before one that cannot follow is likelier.
constexpr std::uint32_t gaps_of_jump = 8;

/// The lower, the likelier a block comes next.
using Rank = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>;

} // namespace

/// The accesses of a warp and those that its path has explained so far.
struct Walker::Progress {
  std::span<const WalkedAccess> accesses;
  std::vector<std::vector<std::uint32_t>> of_label; ///< numbers of the accesses with each label
  std::vector<std::uint32_t> cursor;                ///< into of_label: the first that is not explained
  std::vector<bool> explained;
  std::uint32_t head = 0; ///< the first that is not

  struct Fit {
    std::uint32_t gaps = 0; ///< accesses that stay unexplained before the last one
    std::uint32_t accesses = 0;
  };

  /// Calls take(demand, access) for each access that the block would make; returns the last one's number, or
  /// nothing if the block does not fit.
  template <class Take>
  std::optional<std::uint32_t> each_of(std::span<const Demand> demands, Take&& take) const {
    std::uint32_t last = 0, expected = 0;
    for (const Demand& demand : demands)
      expected += demand.bytes + demand.optional_bytes; // at least as many as accesses
    for (const Demand& demand : demands) {
      const auto& numbers = of_label[demand.label];
      std::uint32_t bytes = 0;
      for (std::uint32_t i = cursor[demand.label];
           i < numbers.size() && bytes < demand.bytes + demand.optional_bytes; ++i) {
        const std::uint32_t ahead = numbers[i] - head;
        if (ahead >= (bytes < demand.bytes ? window : std::min(expected, window)))
          break;
        take(demand, numbers[i]);
        bytes += accesses[numbers[i]].bytes;
        last = std::max(last, numbers[i]);
      }
      if (bytes < demand.bytes)
        return std::nullopt;
    }
    return last;
  }

  std::optional<Fit> fit(std::span<const Demand> demands) const {
    Fit fit;
    const auto last = each_of(demands, [&](const Demand&, std::uint32_t) { ++fit.accesses; });
    if (!last || fit.accesses == 0)
      return std::nullopt;
    const auto known = std::count(explained.begin() + head, explained.begin() + *last + 1, true);
    fit.gaps = *last + 1 - head - std::uint32_t(known) - fit.accesses;
    return fit;
  }

  void explain(std::uint32_t access) {
    explained[access] = true;
    ++cursor[accesses[access].label];
    while (head < accesses.size() && explained[head])
      ++head;
  }
};

Walker::Walker(const Code& code) : code_(code), ways_(code.kernel.blocks.size()) {
  std::uint32_t labels = 0;
  for (const MemorySlot& slot : code.slots)
    labels = std::max(labels, slot.label + 1);
  blocks_with_label_.resize(labels);
  for (std::uint32_t block = 0; block < code.kernel.blocks.size(); ++block) {
    std::vector<Demand>& demands = demands_.emplace_back();
    for (const MemorySlot& slot : code.slots_of(block)) {
      auto found = std::ranges::find(demands, slot.label, &Demand::label);
      if (found == demands.end()) {
        blocks_with_label_[slot.label].push_back(block);
        found = demands.insert(demands.end(), {slot.label, 0, 0});
      }
      (slot.is_optional ? found->optional_bytes : found->bytes) += slot.bytes;
    }
  }
  const std::uint32_t first = 0;
  if (!code.kernel.blocks.empty())
    start_ = find_ways({&first, 1});
  for (std::uint32_t block = 0; block < ways_.size(); ++block)
    if (!demands_[block].empty())
      ways_[block] = find_ways(code.kernel.successors_of(code.kernel.blocks[block]));
}

/// Returns whether a warp may execute the block without an access of the trace.
bool Walker::is_passable(std::uint32_t block) const {
  return std::ranges::all_of(demands_[block], [](const Demand& demand) { return demand.bytes == 0; });
}

/// Finds the shortest ways through blocks without accesses (Dijkstra).
Walker::Ways Walker::find_ways(std::span<const std::uint32_t> from) const {
  Ways ways;
  ways.exit = sass::none;
  using Entry = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // instructions, block, step before
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<bool> seen(code_.kernel.blocks.size());
  for (const std::uint32_t block : from)
    queue.emplace(0, block, sass::none);
  while (!queue.empty()) {
    const auto [instructions, block, before] = queue.top();
    queue.pop();
    if (seen[block])
      continue;
    seen[block] = true;
    if (!demands_[block].empty())
      ways.next.push_back({block, before, instructions});
    if (!is_passable(block))
      continue;
    const auto step = std::uint32_t(ways.steps.size());
    ways.steps.push_back({block, before});
    const sass::Block& of = code_.kernel.blocks[block];
    if (!ways.ends && (of.how == sass::BlockEnd::exit || of.successor_count == 0)) {
      ways.ends = true;
      ways.exit = step;
    }
    for (const std::uint32_t successor : code_.kernel.successors_of(of))
      queue.emplace(instructions + of.end - of.begin, successor, step);
  }
  return ways;
}

/// Appends the blocks without accesses up to this step.
void Walker::pass(const Ways& ways, std::uint32_t step, Walk& walk) const {
  const std::size_t first = walk.path.blocks.size();
  for (; step != sass::none; step = ways.steps[step].before)
    walk.path.blocks.push_back(ways.steps[step].block);
  const auto begin = walk.path.blocks.begin() + std::ptrdiff_t(first);
  std::reverse(begin, walk.path.blocks.end());
  for (auto block = begin; block != walk.path.blocks.end(); ++block)
    walk.path.makes_access.insert(walk.path.makes_access.end(), code_.slots_of(*block).size(), 0);
}

/// Appends a block with its accesses: those of a label go to its slots in their order, as many to each as it
/// is wide.
void Walker::enter(std::uint32_t block, Progress& progress, Walk& walk) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> made; // label, access
  (void)progress.each_of(demands_[block], [&](const Demand& demand, std::uint32_t access) {
    made.emplace_back(demand.label, access);
  });
  std::ranges::stable_sort(made);
  walk.path.blocks.push_back(block);
  std::vector<std::size_t> next(demands_[block].size()); // into `made`, by demand
  std::vector<std::int64_t> left(demands_[block].size()); // bytes that a slot before has made of the next one
  for (std::size_t i = 0; i < next.size(); ++i)
    next[i] = std::size_t(
        std::ranges::lower_bound(made, std::pair(demands_[block][i].label, std::uint32_t(0))) - made.begin());
  for (const MemorySlot& slot : code_.slots_of(block)) {
    const auto demand = std::size_t(std::ranges::find(demands_[block], slot.label, &Demand::label) -
                                    demands_[block].begin());
    std::uint8_t together = 0;
    left[demand] -= slot.bytes;
    for (; next[demand] < made.size() && made[next[demand]].first == slot.label && left[demand] < 0 &&
           together < 16;
         ++together) {
      const std::uint32_t access = made[next[demand]++].second;
      left[demand] += progress.accesses[access].bytes;
      walk.order.push_back(access);
    }
    left[demand] = std::max<std::int64_t>(left[demand], 0);
    walk.path.makes_access.push_back(together != 0);
    if (together != 0)
      walk.joined.push_back(together);
  }
  // What does not fit into the slots' bytes goes with the last one of its label.
  for (std::size_t i = 0; i < next.size(); ++i)
    for (; next[i] < made.size() && made[next[i]].first == demands_[block][i].label; ++next[i]) {
      walk.path.blocks.push_back(Path::loose);
      walk.order.push_back(made[next[i]].second);
      walk.joined.push_back(1);
      ++walk.loose;
    }
  for (const auto& [label, access] : made)
    progress.explain(access);
}

Walk Walker::walk(std::span<const WalkedAccess> accesses) const {
  Walk walk;
  Progress progress{accesses, std::vector<std::vector<std::uint32_t>>(blocks_with_label_.size()),
                    std::vector<std::uint32_t>(blocks_with_label_.size()),
                    std::vector<bool>(accesses.size())};
  for (std::uint32_t i = 0; i < accesses.size(); ++i)
    if (accesses[i].label < progress.of_label.size())
      progress.of_label[accesses[i].label].push_back(i);
  const Ways* ways = &start_;
  while (progress.head < accesses.size()) {
    std::optional<Rank> best;
    const Next* next = nullptr;
    for (const Next& one : ways->next)
      if (const auto fit = progress.fit(demands_[one.block]))
        if (const Rank rank{fit->gaps, -std::int64_t(fit->accesses), one.instructions};
            !best || rank < *best) {
          best = rank;
          next = &one;
        }
    const std::uint32_t label = accesses[progress.head].label;
    std::uint32_t jump = sass::none;
    if (!best || std::get<0>(*best) > gaps_of_jump)
      if (label < blocks_with_label_.size())
        for (const std::uint32_t block : blocks_with_label_[label])
          if (const auto fit = progress.fit(demands_[block]))
            if (const Rank rank{fit->gaps + gaps_of_jump, -std::int64_t(fit->accesses), 0};
                !best || rank < *best) {
              best = rank;
              jump = block;
            }
    if (!best) {
      walk.path.blocks.push_back(Path::loose);
      walk.order.push_back(progress.head);
      walk.joined.push_back(1);
      ++walk.loose;
      if (label < progress.of_label.size()) {
        progress.explain(progress.head);
      } else {
        progress.explained[progress.head] = true;
        while (progress.head < accesses.size() && progress.explained[progress.head])
          ++progress.head;
      }
      continue;
    }
    const std::uint32_t block = jump != sass::none ? jump : next->block;
    if (jump == sass::none)
      pass(*ways, next->before, walk);
    else
      ++walk.jumps;
    enter(block, progress, walk);
    ways = &ways_behind(block);
  }
  if (ways->ends)
    pass(*ways, ways->exit, walk);
  return walk;
}

} // namespace warplens::model
