#include "model/schedule.h"

#include <algorithm>

namespace warplens::model {
namespace {

std::size_t share(double fraction, std::size_t count) {
  return std::min(count, std::size_t(fraction * double(count)));
}

} // namespace

SmSchedule::SmSchedule(const Snapshot& snapshot, const std::vector<std::uint32_t>& blocks,
                       std::uint32_t resident, Random& random)
    : snapshot_(snapshot), random_(random) {
  for (const std::uint32_t block : blocks) {
    if (slots_.size() < resident) {
      const double cut = random.fraction();
      slots_.push_back({0, {{block, cut, 1}}, {{block, 0, cut}}});
    } else {
      waiting_.push_back({block, 0, 1});
    }
    for (std::uint32_t i = 0; i < snapshot.blocks[block].warps; ++i)
      transactions_left_ += snapshot.warps[snapshot.blocks[block].first_warp + i].transactions.size();
  }
  std::reverse(waiting_.begin(), waiting_.end());
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    admit(slot);
  if (!turns_.empty())
    at_ = random.below(std::uint32_t(turns_.size()));
}

void SmSchedule::admit(std::uint32_t slot) {
  while (slots_[slot].warps == 0) {
    auto& from = !slots_[slot].first.empty() ? slots_[slot].first
                 : !waiting_.empty()         ? waiting_
                                             : slots_[slot].last;
    if (from.empty())
      return;
    const Item item = from.back();
    from.pop_back();
    start(slot, item);
  }
}

void SmSchedule::start(std::uint32_t slot, const Item& item) {
  const Snapshot::Block& block = snapshot_.blocks[item.block];
  const std::size_t first_turn = turns_.size();
  std::size_t longest = 0;
  for (std::uint32_t i = 0; i < block.warps; ++i) {
    const Warp& warp = snapshot_.warps[block.first_warp + i];
    const std::size_t from = share(item.from, warp.accesses.size()),
                      to = share(item.to, warp.accesses.size());
    if (from == to)
      continue;
    Turn turn;
    turn.next = warp.accesses.data() + from;
    turn.end = warp.accesses.data() + to;
    turn.transactions = warp.transactions.data();
    turn.credit = float(random_.fraction());
    turn.slot = slot;
    turns_.push_back(turn);
    longest = std::max(longest, to - from);
    ++slots_[slot].warps;
  }
  for (std::size_t i = first_turn; i < turns_.size(); ++i)
    turns_[i].weight = float(turns_[i].end - turns_[i].next) / float(longest);
}

SmSchedule::Bulk SmSchedule::next() {
  while (!turns_.empty()) {
    if (at_ >= turns_.size())
      at_ = 0;
    Turn& turn = turns_[at_];
    turn.credit += turn.weight;
    if (turn.credit < 1) {
      ++at_;
      continue;
    }
    turn.credit -= 1;
    const Access* begin = turn.next;
    do
      transactions_left_ -= turn.next->transactions;
    while (++turn.next != turn.end && !turn.next->starts_bulk);
    const Bulk bulk{{begin, turn.next}, turn.transactions};
    if (turn.next != turn.end) {
      ++at_;
    } else {
      const std::uint32_t slot = turn.slot;
      turns_.erase(turns_.begin() + std::ptrdiff_t(at_));
      if (--slots_[slot].warps == 0)
        admit(slot);
    }
    return bulk;
  }
  return {};
}

} // namespace warplens::model
