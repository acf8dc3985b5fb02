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
/// The last branches of which a warp may execute the other side.
constexpr std::size_t remembered_branches = 8;

constexpr std::uint32_t first_block[] = {0};

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
      expected += demand.slots;
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
    if (const std::uint32_t label = accesses[access].label; label < cursor.size())
      ++cursor[label];
    while (head < accesses.size() && explained[head])
      ++head;
  }
};

Walker::Walker(const Code& code) : code_(code), next_(code.kernel.blocks.size()) {
  std::uint32_t labels = 0;
  for (const MemorySlot& slot : code.slots)
    labels = std::max(labels, slot.label + 1);
  blocks_with_label_.resize(labels);
  is_constant_.resize(labels);
  for (const MemorySlot& slot : code.slots)
    is_constant_[slot.label] =
        code.kernel.instructions[slot.instruction].kind == sass::InstructionClass::load_constant;
  for (std::uint32_t block = 0; block < code.kernel.blocks.size(); ++block) {
    std::vector<Demand>& demands = demands_.emplace_back();
    for (const MemorySlot& slot : code.slots_of(block)) {
      auto found = std::ranges::find(demands, slot.label, &Demand::label);
      if (found == demands.end()) {
        blocks_with_label_[slot.label].push_back(block);
        found = demands.insert(demands.end(), {slot.label});
      }
      ++found->slots;
      (slot.is_optional ? found->optional_bytes : found->bytes) += slot.bytes;
    }
  }
  std::vector<bool> passable;
  for (std::uint32_t block = 0; block < next_.size(); ++block)
    passable.push_back(is_passable(block));
  ways_.emplace(code, std::move(passable));
  if (!code.kernel.blocks.empty())
    start_ = find_next(first_block);
  for (std::uint32_t block = 0; block < next_.size(); ++block)
    if (!demands_[block].empty())
      next_[block] = find_next(code.kernel.successors_of(code.kernel.blocks[block]));
}

/// Returns whether a warp may execute the block without an access of the trace.
bool Walker::is_passable(std::uint32_t block) const {
  return std::ranges::all_of(demands_[block], [](const Demand& demand) { return demand.bytes == 0; });
}

/// Finds the blocks with accesses behind blocks without, the closest first (Dijkstra).
Walker::Nexts Walker::find_next(std::span<const std::uint32_t> from) const {
  Nexts found;
  using Entry = std::pair<std::uint32_t, std::uint32_t>; // instructions, block
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<bool> seen(code_.kernel.blocks.size());
  for (const std::uint32_t block : from)
    queue.emplace(0, block);
  while (!queue.empty()) {
    const auto [instructions, block] = queue.top();
    queue.pop();
    if (seen[block])
      continue;
    seen[block] = true;
    if (!demands_[block].empty())
      found.push_back({block, instructions});
    if (!is_passable(block))
      continue;
    const sass::Block& of = code_.kernel.blocks[block];
    for (const std::uint32_t successor : code_.kernel.successors_of(of))
      queue.emplace(instructions + of.end - of.begin, successor);
  }
  return found;
}

/// Passes from one block with accesses to the next, by the marks that the trace has there. A compiler moves
/// accesses across branches: a body whose blocks do not lie on one way may still lie on the next.
class Walker::Between {
public:
  Between(const Walker& walker, std::span<const WalkedMark> marks) : walker_(walker), marks_(marks) {}

  /// Appends the blocks from `last`, or from the kernel's begin, to `to` or to the kernel's end. `head`: the
  /// first access that is not explained.
  void pass(std::uint32_t last, std::optional<std::uint32_t> to, std::uint32_t head, Walk& walk) {
    std::erase_if(executed_, [&](const auto& one) { return !fresh_.contains(one.first); });
    fresh_.clear();
    for (; next_ < marks_.size() && marks_[next_].before <= head; ++next_) {
      executed_[marks_[next_].mark] += marks_[next_].count;
      fresh_[marks_[next_].mark] = 1;
    }
    const MarkedWays::Way& way =
        walker_.ways_->find(last == sass::none ? std::nullopt : std::optional(last), to, executed_);
    put(way.blocks, walk);
    executed_ = way.left;
  }

private:
  void put(const std::vector<std::uint32_t>& way, Walk& walk) const {
    walk.path.blocks.insert(walk.path.blocks.end(), way.begin(), way.end());
    for (const std::uint32_t block : way)
      walk.path.makes_access.insert(walk.path.makes_access.end(), walker_.code_.slots_of(block).size(), 0);
  }

  const Walker& walker_;
  std::span<const WalkedMark> marks_;
  std::size_t next_ = 0;
  ExecutedMarks executed_, fresh_; ///< bodies that are not on the path yet; those of them that came last
};

/// Appends a block with its accesses: those of a label go to its slots in their order, as many to each as it
/// is wide.
void Walker::enter(std::uint32_t block, Progress& progress, Walk& walk) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> made; // label, access
  (void)progress.each_of(demands_[block], [&](const Demand& demand, std::uint32_t access) {
    made.emplace_back(demand.label, access);
  });
  std::ranges::stable_sort(made);
  walk.path.blocks.push_back(block);
  std::vector<std::size_t> next(demands_[block].size());  // into `made`, by demand
  std::vector<std::int64_t> left(demands_[block].size()); // bytes that a slot before has made of the next one
  for (std::size_t i = 0; i < next.size(); ++i)
    next[i] = std::size_t(
        std::ranges::lower_bound(made, std::pair(demands_[block][i].label, std::uint32_t(0))) - made.begin());
  for (const MemorySlot& slot : code_.slots_of(block)) {
    const auto demand =
        std::size_t(std::ranges::find(demands_[block], slot.label, &Demand::label) - demands_[block].begin());
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
  // Accesses that do not fit into the slots' bytes have no instruction.
  for (std::size_t i = 0; i < next.size(); ++i)
    for (; next[i] < made.size() && made[next[i]].first == demands_[block][i].label; ++next[i])
      put_loose(made[next[i]].second, walk);
  for (const auto& [label, access] : made)
    progress.explain(access);
}

/// Appends an access of which no instruction is known.
void Walker::put_loose(std::uint32_t access, Walk& walk) {
  walk.path.blocks.push_back(Path::loose);
  walk.order.push_back(access);
  walk.joined.push_back(1);
  ++walk.loose;
}

struct Walker::Choice {
  std::uint32_t block = sass::none; ///< none fits
  const Next* next = nullptr;       ///< null: it does not follow the last block
};

/// Returns whether an access to constants was removed: none of the blocks that can follow has an instruction
/// for it.
bool Walker::was_removed(std::uint32_t label, const Nexts& next) const {
  return is_constant_[label] && std::ranges::none_of(next, [&](const Next& one) {
           return std::ranges::find(demands_[one.block], label, &Demand::label) != demands_[one.block].end();
         });
}

Walker::Choice Walker::choose(const Progress& progress, std::span<const Nexts* const> recent) const {
  Choice choice;
  std::optional<Rank> best;
  const auto consider = [&](std::uint32_t block, const Next* next, std::uint32_t penalty,
                            std::uint32_t max_gaps = window) {
    const auto fit = progress.fit(demands_[block]);
    if (!fit || fit->gaps > max_gaps)
      return;
    const Rank rank{2 * fit->gaps + penalty, -std::int64_t(fit->accesses), next ? next->instructions : 0};
    if (!best || rank < *best) {
      best = rank;
      choice = {block, next};
    }
  };
  for (const Next& next : *recent.back())
    consider(next.block, &next, 0);
  if (!best || std::get<0>(*best) != 0)
    for (const Nexts* const behind : recent.first(recent.size() - 1))
      for (const Next& side : *behind)
        consider(side.block, nullptr, 1, 0);
  if (!best || std::get<0>(*best) > 2 * gaps_of_jump)
    for (const std::uint32_t block : blocks_with_label_[progress.accesses[progress.head].label])
      consider(block, nullptr, 2 * gaps_of_jump);
  return choice;
}

Walk Walker::walk(std::span<const WalkedAccess> accesses, std::span<const WalkedMark> marks) const {
  Walk walk;
  Progress progress{accesses, std::vector<std::vector<std::uint32_t>>(blocks_with_label_.size()),
                    std::vector<std::uint32_t>(blocks_with_label_.size()),
                    std::vector<bool>(accesses.size())};
  for (std::uint32_t i = 0; i < accesses.size(); ++i)
    if (has_slots(accesses[i].label))
      progress.of_label[accesses[i].label].push_back(i);
  std::vector<const Nexts*> recent{&start_}; // behind the last blocks with accesses, the last one at the end
  std::uint32_t last = sass::none;
  Between between(*this, marks);
  while (progress.head < accesses.size()) {
    if (const std::uint32_t label = accesses[progress.head].label;
        has_slots(label) && was_removed(label, *recent.back())) {
      walk.removed.push_back(progress.head);
      progress.explain(progress.head);
      continue;
    }
    const Choice choice = has_slots(accesses[progress.head].label) ? choose(progress, recent) : Choice();
    if (choice.block == sass::none) {
      put_loose(progress.head, walk);
      progress.explain(progress.head);
      continue;
    }
    if (choice.next != nullptr)
      between.pass(last, choice.block, progress.head, walk);
    else
      ++walk.jumps;
    enter(choice.block, progress, walk);
    if (recent.size() == remembered_branches)
      recent.erase(recent.begin());
    recent.push_back(&next_[choice.block]);
    last = choice.block;
  }
  between.pass(last, std::nullopt, progress.head, walk);
  return walk;
}

} // namespace warplens::model
