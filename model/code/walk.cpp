#include "model/code/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

namespace warplens::model {
namespace {

/// How many accesses of other blocks, from the first unexplained one on, a compiler may have moved an access
/// across.
constexpr std::uint32_t window = 256;
/// How many accesses a block that follows may leave unexplained before one that cannot follow is likelier.
constexpr std::uint32_t gaps_of_jump = 8;
/// The last branches of which a warp may execute the other side.
constexpr std::size_t remembered_branches = 8;

/// The lower, the likelier a block comes next.
using Rank = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>;

} // namespace

/// The accesses of a warp and those that its path has explained so far.
struct Walker::Progress {
  std::span<const WalkedAccess> accesses;
  std::vector<std::vector<std::uint32_t>> accesses_by_label; ///< numbers of the accesses with each label
  std::vector<std::uint32_t> cursor; ///< into accesses_by_label: the first that is not explained
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
    std::uint32_t last = 0, slots = 0;
    for (const Demand& demand : demands)
      slots += demand.slots;
    const std::uint32_t furthest = window + accesses_of(demands);
    for (const Demand& demand : demands) {
      const auto& numbers = accesses_by_label[demand.label];
      std::uint32_t bytes = 0;
      for (std::uint32_t i = cursor[demand.label];
           i < numbers.size() && bytes < demand.bytes + demand.optional_bytes; ++i) {
        const std::uint32_t ahead = numbers[i] - head;
        if (ahead >= (bytes < demand.bytes ? furthest : std::min(slots, window)))
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

  /// Returns about how many accesses the block would make: a wide instruction makes several.
  std::uint32_t accesses_of(std::span<const Demand> demands) const {
    std::uint32_t count = 0;
    for (const Demand& demand : demands) {
      const auto& numbers = accesses_by_label[demand.label];
      const std::uint32_t next = cursor[demand.label];
      if (next < numbers.size())
        count += demand.bytes / accesses[numbers[next]].bytes;
    }
    return count;
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
  paths_.emplace(code, std::move(passable));
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
    const MarkedPaths::BlockPath& way =
        walker_.paths_->find(last == sass::none ? std::nullopt : std::optional(last), to, executed_);
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

/// Joins accesses for the wide instructions of one label, and gives the others to the rest of its slots.
class Walker::Joining {
public:
  /// `made`: numbers of the accesses of one label that a block makes, ascending.
  Joining(std::span<const WalkedAccess> accesses, std::vector<std::uint32_t> made)
      : accesses_(accesses), made_(std::move(made)), taken_(made_.size()) {}

  /// Takes the first accesses of one site that fill the width, each behind the one before it; none if there
  /// are no such ones.
  std::vector<std::uint32_t> take_run(std::uint32_t width) {
    for (std::size_t first = 0; first < made_.size(); ++first) {
      if (taken_[first] || of(first).bytes >= width)
        continue;
      std::vector<std::size_t> run{first};
      std::uint32_t bytes = of(first).bytes;
      for (std::size_t i = first + 1; i < made_.size() && bytes < width; ++i) {
        if (taken_[i] || of(i).site != of(first).site)
          continue;
        if (!of(i).continues)
          break;
        run.push_back(i);
        bytes += of(i).bytes;
      }
      if (bytes == width)
        return take(run);
    }
    return {};
  }
  /// Takes the first accesses, as many as the width has room for; `left`: bytes that slots before have made
  /// of the next one.
  std::vector<std::uint32_t> take_next(std::uint32_t width, std::int64_t& left) {
    std::vector<std::size_t> next;
    left -= width;
    for (std::size_t i = 0; i < made_.size() && left < 0 && next.size() < max_joined; ++i)
      if (!taken_[i]) {
        left += of(i).bytes;
        next.push_back(i);
      }
    left = std::max<std::int64_t>(left, 0);
    return take(next);
  }
  std::vector<std::uint32_t> take_rest() {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < made_.size(); ++i)
      if (!taken_[i])
        rest.push_back(i);
    return take(rest);
  }

private:
  static constexpr std::size_t max_joined = 16;

  const WalkedAccess& of(std::size_t i) const { return accesses_[made_[i]]; }
  std::vector<std::uint32_t> take(const std::vector<std::size_t>& some) {
    std::vector<std::uint32_t> numbers;
    for (const std::size_t i : some) {
      taken_[i] = true;
      numbers.push_back(made_[i]);
    }
    return numbers;
  }

  std::span<const WalkedAccess> accesses_;
  std::vector<std::uint32_t> made_;
  std::vector<bool> taken_;
};

/// Appends a block with its accesses: to a wide instruction go those of one site that lie behind each other,
/// and the others of a label go to its slots in their order.
void Walker::enter(std::uint32_t block, Progress& progress, Walk& walk) const {
  std::map<std::uint32_t, std::vector<std::uint32_t>> made; // by label
  (void)progress.each_of(demands_[block], [&](const Demand& demand, std::uint32_t access) {
    made[demand.label].push_back(access);
  });
  std::map<std::uint32_t, Joining> joining;
  for (auto& [label, numbers] : made)
    joining.emplace(label, Joining(progress.accesses, numbers));
  const auto slots = code_.slots_of(block);
  std::vector<std::vector<std::uint32_t>> accesses_by_slot(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (const auto found = joining.find(slots[i].label); found != joining.end())
      accesses_by_slot[i] = found->second.take_run(slots[i].bytes);
  std::map<std::uint32_t, std::int64_t> left;
  walk.path.blocks.push_back(block);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto found = joining.find(slots[i].label);
    if (accesses_by_slot[i].empty() && found != joining.end())
      accesses_by_slot[i] = found->second.take_next(slots[i].bytes, left[slots[i].label]);
    walk.order.insert(walk.order.end(), accesses_by_slot[i].begin(), accesses_by_slot[i].end());
    walk.path.makes_access.push_back(!accesses_by_slot[i].empty());
    if (!accesses_by_slot[i].empty())
      walk.joined.push_back(std::uint8_t(accesses_by_slot[i].size()));
  }
  // Accesses that do not fit into the slots' bytes have no instruction.
  for (auto& [label, accesses_by_label] : joining)
    for (const std::uint32_t access : accesses_by_label.take_rest())
      put_loose(access, walk);
  for (const auto& [label, numbers] : made)
    for (const std::uint32_t access : numbers)
      progress.explain(access);
}

/// Appends an access of which no instruction is known.
void Walker::put_loose(std::uint32_t access, Walk& walk) {
  walk.path.blocks.push_back(Path::unmatched);
  walk.order.push_back(access);
  walk.joined.push_back(1);
  ++walk.unmatched;
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
      progress.accesses_by_label[accesses[i].label].push_back(i);
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
