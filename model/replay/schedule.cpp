#include "model/replay/schedule.h"

#include <algorithm>

namespace warplens::model {

std::vector<std::vector<std::uint32_t>> place_blocks(const Snapshot& snapshot, const Gpu& gpu,
                                                     Random& random) {
  std::vector<std::vector<std::uint32_t>> blocks(gpu.sms);
  std::vector<std::uint32_t> sms(gpu.sms);
  for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
    sms[sm] = sm;
  std::uint64_t round = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < snapshot.blocks.size(); ++i) {
    const std::uint64_t id = snapshot.blocks[i].id;
    if (gpu.schedule.placement == BlockPlacement::random && id / gpu.sms != round) {
      // Each SM gets a block, in another order in each round.
      round = id / gpu.sms;
      for (std::uint32_t left = gpu.sms; left > 1; --left)
        std::swap(sms[left - 1], sms[random.below(left)]);
    }
    blocks[sms[id % gpu.sms]].push_back(i);
  }
  return blocks;
}

SmSchedule::SmSchedule(const Snapshot& snapshot, const std::vector<std::uint32_t>& blocks,
                       std::uint32_t resident, const Gpu& gpu, Random& random)
    : snapshot_(snapshot), random_(random) {
  for (const std::uint32_t block : blocks) {
    if (slots_.size() >= resident)
      waiting_.push_back({block, 0, 1});
    else
      slots_.push_back(first_slot(block, blocks.size(), resident, gpu.schedule.start));
    for (std::uint32_t i = 0; i < snapshot.blocks[block].warps; ++i)
      transactions_left_ += snapshot.warps[snapshot.blocks[block].first_warp + i].transactions.size();
  }
  std::reverse(waiting_.begin(), waiting_.end());
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    delayed_.push_back(slot);
  std::stable_sort(delayed_.begin(), delayed_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return slots_[a].delay != slots_[b].delay ? slots_[a].delay > slots_[b].delay : a > b;
  });
  wake();
  at_ = resident_.data();
  if (!resident_.empty())
    at_ += random.below(std::uint32_t(resident_.size()));
}

SmSchedule::Slot SmSchedule::first_slot(std::uint32_t block, std::size_t blocks, std::uint32_t resident,
                                        BlockStart start) {
  if (start == BlockStart::random_delay || (start == BlockStart::mid_launch && snapshot_.whole_grid))
    return {0, random_delay(block, blocks, resident), {{block, 0, 1}}, {}};
  const double cut = random_.fraction();
  const Warp& longest = longest_warp(snapshot_, snapshot_.blocks[block]);
  if (start == BlockStart::mid_launch && !is_in_loop(longest, cut))
    return {0, random_delay(block, blocks, resident), {{block, 0, 1}}, {}};
  return {0, 0, {{block, cut, 1}}, {{block, 0, cut}}};
}

std::uint64_t SmSchedule::random_delay(std::uint32_t block, std::size_t blocks, std::uint32_t resident) {
  // The delay is less than the block's own time, but the SM must not be half empty for most of the snapshot:
  // where few blocks follow each other, it is less than an eighth of the SM's whole time.
  const double waves = double(blocks) / double(resident);
  const double longest = longest_warp(snapshot_, snapshot_.blocks[block]).bulks;
  return std::uint64_t(random_.fraction() * longest * std::min(1.0, waves / 8));
}

void SmSchedule::wake() {
  if (resident_.empty() && !delayed_.empty())
    now_ = std::max(now_, slots_[delayed_.back()].delay);
  while (!delayed_.empty() && slots_[delayed_.back()].delay <= now_) {
    const std::uint32_t slot = delayed_.back();
    delayed_.pop_back();
    dispatch(slot);
  }
  resident_end_ = resident_.data() + resident_.size();
}

void SmSchedule::dispatch(std::uint32_t slot) {
  while (slots_[slot].warps == 0) {
    auto& from = !slots_[slot].first.empty() ? slots_[slot].first
                 : !waiting_.empty()         ? waiting_
                                             : slots_[slot].last;
    if (from.empty())
      return;
    const BlockPart item = from.back();
    from.pop_back();
    start(slot, item);
  }
}

void SmSchedule::start(std::uint32_t slot, const BlockPart& item) {
  const Snapshot::Block& block = snapshot_.blocks[item.block];
  const std::size_t first_warp = resident_.size();
  std::uint32_t longest = 0;
  for (std::uint32_t i = 0; i < block.warps; ++i) {
    const Warp& warp = snapshot_.warps[block.first_warp + i];
    const WarpPart part = part_of(warp, item.from, item.to);
    if (part.bulks == 0)
      continue;
    ResidentWarp resident;
    resident.next = part.begin;
    resident.transactions = part.transactions;
    resident.end = part.end;
    resident.skip = part.bulks; // until the longest is known
    resident.debt = ~random_.next();
    resident.slot = slot;
    resident_.push_back(resident);
    longest = std::max(longest, part.bulks);
    ++slots_[slot].warps;
  }
  // A warp's weight is its share of its block's longest warp: warps with fewer bulks skip some of their
  // turns, so that the warps of a block end together, as its barriers and its end make them. The paper leaves
  // the weights open.
  for (ResidentWarp& warp : std::span(resident_).subspan(first_warp)) {
    const std::uint64_t fewer = longest - warp.skip;
    warp.skip = std::uint32_t((fewer << 32) / longest);
  }
}

/// Begins the next round with the oldest warp; returns false if none is left.
bool SmSchedule::begin_round() {
  ++now_;
  if (!delayed_.empty())
    wake();
  at_ = resident_.data();
  return !resident_.empty();
}

/// Removes the warp that has just ended; if it is its block's last, the next block follows.
void SmSchedule::end_warp() {
  const std::uint32_t slot = at_->slot;
  const auto ended = at_ - resident_.data();
  resident_.erase(resident_.begin() + ended);
  if (--slots_[slot].warps == 0)
    dispatch(slot);
  at_ = resident_.data() + ended;
  resident_end_ = resident_.data() + resident_.size();
}

} // namespace warplens::model
