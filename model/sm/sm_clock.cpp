#include "model/sm/sm_clock.h"

#include <limits>
#include <utility>

namespace warplens::model {
namespace {

constexpr Cycle never = std::numeric_limits<Cycle>::max();

std::size_t registers_of(const WarpProgram& program) {
  int highest = -1;
  for (const Instruction& one : program) {
    highest = std::max<int>(highest, one.result);
    for (const int source : one.sources)
      highest = std::max(highest, source);
  }
  return std::size_t(highest + 1);
}

} // namespace

SmClock::SmClock(const SmFigures& figures, std::span<const BlockProgram> blocks, IssueObserver* observer)
    : figures_(figures), blocks_(blocks), observer_(observer), schedulers_(figures.schedulers),
      shared_units_(figures.pipes.size()) {
  for (Scheduler& scheduler : schedulers_) {
    scheduler.blocked_cycles.resize(figures.pipes.size());
    scheduler.units.resize(figures.pipes.size());
    for (std::size_t pipe = 0; pipe < figures.pipes.size(); ++pipe)
      units(scheduler, int(pipe)).resize(figures.pipes[pipe].units);
  }
}

SmTimes SmClock::run() {
  while (admitted_ < std::min<std::size_t>(blocks_.size(), figures_.resident_blocks))
    admit();
  while (!resident_.empty()) {
    open_barriers();
    retire_blocks();
    for (Scheduler& scheduler : schedulers_)
      step(scheduler);
    if (resident_.empty())
      break;
    const Cycle next = next_event();
    for (Scheduler& scheduler : schedulers_)
      count_blocked(scheduler, now_ + 1, next);
    now_ = next;
  }
  return times_;
}

void SmClock::admit() {
  auto block = std::make_unique<Block>();
  block->number = std::uint32_t(admitted_);
  const BlockProgram& programs = blocks_[admitted_++];
  block->warps.resize(programs.size());
  block->done_at = now_;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    Warp& warp = block->warps[i];
    warp.block = block.get();
    warp.number = std::uint32_t(i);
    warp.slot = next_slot_++;
    warp.next = programs[i].data();
    warp.end = warp.next + programs[i].size();
    warp.registers.resize(registers_of(programs[i]));
    warp.since = warp.idle_since = now_;
    block->ended += warp.has_ended();
    schedulers_[warp.slot % figures_.schedulers].warps.push_back(&warp);
  }
  resident_.push_back(std::move(block));
}

/// Releases the warps of blocks of which all have arrived, the last one in the cycle before.
void SmClock::open_barriers() {
  for (const auto& block : resident_)
    if (block->all_at_barrier()) {
      block->at_barrier = 0;
      for (Warp& warp : block->warps)
        if (std::exchange(warp.at_barrier, false))
          warp.barrier_until = now_ + figures_.barrier;
    }
}

/// Removes the blocks that have ended and whose results are there, and admits others in their places.
void SmClock::retire_blocks() {
  std::size_t admit_count = 0;
  std::erase_if(resident_, [&](const std::unique_ptr<Block>& block) {
    if (!block->has_ended() || block->done_at > now_)
      return false;
    for (Warp& warp : block->warps) {
      stalls(Stall::ended) += now_ - warp.since;
      std::erase(schedulers_[warp.slot % figures_.schedulers].warps, &warp);
    }
    times_.cycles = std::max(times_.cycles, now_);
    ++admit_count;
    return true;
  });
  for (; admit_count > 0 && admitted_ < blocks_.size(); --admit_count)
    admit();
}

/// Counts the cycles from `begin` to before `end` in which the scheduler's pipes are taken, given that
/// nothing issues then.
void SmClock::count_blocked(Scheduler& scheduler, Cycle begin, Cycle end) {
  for (std::size_t pipe = 0; pipe < figures_.pipes.size(); ++pipe) {
    const Cycle open = std::min(open_at(scheduler, int(pipe)), end);
    scheduler.blocked_cycles[pipe] += open > begin ? open - begin : 0;
  }
}

void SmClock::step(Scheduler& scheduler) {
  Warp* chosen = nullptr;
  Rank lowest{};
  for (Warp* warp : scheduler.warps) {
    if (warp->has_ended() || warp->at_barrier || warp->ready_at() > now_)
      continue;
    const int pipe = warp->next->pipe;
    if (!warp->is_ready) {
      warp->is_ready = true;
      warp->blocked_before = pipe == Instruction::none ? 0 : scheduler.blocked_cycles[std::size_t(pipe)];
    }
    if (open_at(scheduler, pipe) > now_)
      continue;
    const Rank rank = rank_of(scheduler, *warp);
    if (chosen == nullptr || rank < lowest) {
      chosen = warp;
      lowest = rank;
    }
  }
  count_blocked(scheduler, now_, now_ + 1);
  if (chosen == nullptr)
    return;
  account(scheduler, *chosen);
  for (std::uint32_t i = 0; i < figures_.width; ++i) {
    issue(scheduler, *chosen);
    if (chosen->has_ended() || chosen->at_barrier || chosen->data_at > now_ ||
        open_at(scheduler, chosen->next->pipe) > now_)
      break;
  }
  scheduler.issued_last = chosen->slot;
}

/// Adds the cycles since the warp's last issue to the reasons for which it waited.
void SmClock::account(const Scheduler& scheduler, const Warp& warp) {
  const Cycle after_barrier = std::max(warp.since, std::min(warp.barrier_until, now_));
  const Cycle ready = warp.ready_at();
  stalls(Stall::barrier) += after_barrier - warp.since;
  stalls(Stall::data) += ready - after_barrier;
  // This cycle's own count comes before the issue and is not the warp's.
  const std::uint64_t blocked =
      warp.next->pipe == Instruction::none
          ? 0
          : scheduler.blocked_cycles[std::size_t(warp.next->pipe)] - warp.blocked_before;
  stalls(Stall::structural) += blocked;
  stalls(Stall::not_selected) += now_ - ready - blocked;
}

void SmClock::issue(Scheduler& scheduler, Warp& warp) {
  const Instruction& now = *warp.next++;
  Block& block = *warp.block;
  ++times_.issues;
  if (observer_ != nullptr)
    observer_->issued(block.number, warp.number, now_);
  block.issued_last = warp.slot;
  warp.idle_since = now_;
  warp.since = now_ + 1;
  Cycle done = now_ + 1;
  if (now.pipe == Instruction::none) {
    warp.at_barrier = !warp.has_ended(); // the others count a warp that has ended as arrived
    block.at_barrier += warp.at_barrier;
  } else {
    const PipeFigures& pipe = figures_.pipes[std::size_t(now.pipe)];
    *std::ranges::min_element(units(scheduler, now.pipe)) = now_ + pipe.interval * now.passes;
    const Cycle result = now_ + pipe.latency + now.passes - 1;
    done = std::max(done, result);
    if (now.result != Instruction::none)
      warp.registers[std::size_t(now.result)] = result;
    if (pipe.holds_miss)
      misses_.push(result);
    if (pipe.uses_queue) {
      const Cycle leaves = std::max({now_ + figures_.queue.transit, scheduler.next_leaves, any_leaves_});
      scheduler.queue.push_back(leaves);
      scheduler.next_leaves = leaves + figures_.queue.own_interval;
      any_leaves_ = leaves + figures_.queue.shared_interval;
    }
  }
  block.done_at = std::max(block.done_at, done);
  block.ended += warp.has_ended();
  prepare(warp);
}

/// Computes when the operands of the warp's next instruction are there.
void SmClock::prepare(Warp& warp) {
  warp.is_ready = false;
  warp.data_at = 0;
  if (warp.has_ended())
    return;
  for (const int source : warp.next->sources)
    if (source != Instruction::none)
      warp.data_at = std::max(warp.data_at, warp.registers[std::size_t(source)]);
}

std::vector<Cycle>& SmClock::units(Scheduler& scheduler, int pipe) {
  return figures_.pipes[std::size_t(pipe)].shared ? shared_units_[std::size_t(pipe)]
                                                  : scheduler.units[std::size_t(pipe)];
}

/// Returns the first cycle from now on in which an instruction can enter the pipe, if none does before.
Cycle SmClock::open_at(Scheduler& scheduler, int pipe) {
  if (pipe == Instruction::none)
    return now_;
  const PipeFigures& figures = figures_.pipes[std::size_t(pipe)];
  Cycle open = std::max(now_, std::ranges::min(units(scheduler, pipe)));
  if (figures.uses_queue) {
    while (!scheduler.queue.empty() && scheduler.queue.front() <= now_)
      scheduler.queue.pop_front();
    if (scheduler.queue.size() >= figures_.queue.entries)
      open = std::max(open, scheduler.queue.front());
  }
  if (figures.holds_miss) {
    while (!misses_.empty() && misses_.top() <= now_)
      misses_.pop();
    if (misses_.size() >= figures_.miss_entries)
      open = std::max(open, misses_.top());
  }
  return open;
}

/// Returns the warp's rank among those that can issue; the lowest comes first.
SmClock::Rank SmClock::rank_of(const Scheduler& scheduler, const Warp& warp) const {
  const auto slot = std::int64_t(warp.slot), idle = std::int64_t(warp.idle_since);
  const auto block = std::int64_t(warp.block->number), waiting = warp.block->waiting();
  const bool other = scheduler.issued_last != warp.slot,
             other_of_block = warp.block->issued_last != warp.slot;
  switch (figures_.policy) {
  case IssuePolicy::loose_round_robin:
    return {!other || (scheduler.issued_last && slot < *scheduler.issued_last), slot};
  case IssuePolicy::greedy_then_oldest: return {other, slot};
  case IssuePolicy::greedy_then_youngest: return {other, -slot};
  case IssuePolicy::greedy_then_least_recent: return {other, idle, slot};
  case IssuePolicy::two_level_oldest: return {-waiting, block, other_of_block, slot};
  case IssuePolicy::two_level_least_recent: return {-waiting, block, other_of_block, idle};
  case IssuePolicy::greedy_two_level_least_recent: return {other, -waiting, block, idle};
  }
  return {};
}

/// Returns the next cycle in which an instruction can issue or a block can end.
Cycle SmClock::next_event() {
  Cycle next = never;
  for (const auto& block : resident_) {
    if (block->has_ended())
      next = std::min(next, std::max(block->done_at, now_ + 1));
    if (block->all_at_barrier())
      return now_ + 1;
  }
  for (Scheduler& scheduler : schedulers_)
    for (const Warp* warp : scheduler.warps)
      if (!warp->has_ended() && !warp->at_barrier) {
        const Cycle ready = std::max(warp->ready_at(), now_ + 1);
        // Before it is ready, the clock stops there to see which pipes are taken.
        next = std::min(next, warp->is_ready ? std::max(ready, open_at(scheduler, warp->next->pipe)) : ready);
      }
  return next;
}

} // namespace warplens::model
