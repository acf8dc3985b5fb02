#include "runtime/cpu/execution/warp.h"

#include "runtime/cpu/execution/block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fmt/format.h>

namespace warplens::cpu {

void Warp::begin(Block& block, std::uint32_t number, Lane* lanes, std::uint32_t lane_count) {
  *this = {};
  block_ = &block;
  number_ = number;
  lanes_ = lanes;
  all_ = alive_ = ready_ = lane_count == 32 ? 0xffffffff : (1U << lane_count) - 1;
}

void Warp::resume(Lane& lane) {
  ready_ &= ~bit(lane);
  block_->resume(lane);
}

Progress Warp::run() {
  Progress progress = Progress::none;
  yielded_ = 0;
  while (!block_->failed()) {
    if (const std::uint32_t can_run = ready_ & ~yielded_) {
      const auto number = static_cast<std::uint32_t>(std::countr_zero(can_run));
      resume(lanes_[number]);
      progress = std::max(progress, !(yielded_ >> number & 1) ? Progress::working
                                    : polling_ >> number & 1  ? Progress::polling
                                                              : Progress::spinning);
      continue;
    }
    // All lanes have stopped.
    if (in_operation_ && complete_operations())
      continue;
    if (merger_ && free_log_space())
      continue;
    const Release released = release_first();
    if (released == Release::none)
      break;
    if (released == Release::in_lock_step)
      return Progress::working; // the block's other warps reach this point first
  }
  return progress;
}

/// Issues the entries of the logs that no later entry can precede. Returns whether a lane's log has free
/// space again.
bool Warp::free_log_space() {
  if (yielded_ && !log_full_)
    return false; // the spinning lanes' entries may come first, and no lane waits for space
  // A spinning lane precedes those behind its loop, but not for ever: the one it waits for may be among them.
  constexpr std::uint32_t patience = 1024;
  const bool wait_for_spinning = yielded_ && ++spins_ < patience;
  if (!wait_for_spinning)
    spins_ = 0;
  // Lanes in lock step log their next entries after the position where they wait.
  LogMerger::Held held{in_lock_step_};
  for (std::uint32_t rest = in_lock_step_; rest; rest &= rest - 1)
    held.keys[std::countr_zero(rest)] = static_cast<std::int32_t>(lanes_[std::countr_zero(rest)].position);
  std::uint32_t emptied =
      log_full_ & merger_->merge(wait_for_spinning ? log_full_ | yielded_ : log_full_, held);
  if (!emptied && !wait_for_spinning) // entries of an iteration in which the others did not wait for it
    emptied = log_full_ & merger_->merge(log_full_);
  log_full_ &= ~emptied;
  ready_ |= emptied;
  return emptied != 0;
}

/// Releases together the lanes that wait at the first position in program order.
Warp::Release Warp::release_first() {
  if (log_full_) // these lanes have yet to reach the others' position
    return Release::none;
  const std::uint32_t waiting = in_active_mask_ | in_lock_step_;
  std::uint32_t first = 0xffffffff, group = 0;
  for (std::uint32_t rest = waiting; rest; rest &= rest - 1) {
    const Lane& lane = lanes_[std::countr_zero(rest)];
    if (lane.position < first) {
      first = lane.position;
      group = 0;
    }
    if (lane.position == first)
      group |= bit(lane);
  }
  if (in_lock_step_ && is_spinning_before(first)) {
    // If lanes wait for one that spins, it may be waiting for them.
    const auto now = std::chrono::steady_clock::now();
    if (held_back_ == 0)
      held_since_ = now;
    if (++held_back_ < patience_ || now - held_since_ < patience_ * std::chrono::microseconds(100))
      return Release::none;
    patience_ = std::max(patience_ / 2, shortest_patience);
  }
  held_back_ = 0;
  for (std::uint32_t rest = group; rest; rest &= rest - 1)
    lanes_[std::countr_zero(rest)].result = group;
  const bool lock_step = in_lock_step_ & group;
  in_active_mask_ &= ~group;
  in_lock_step_ &= ~group;
  ready_ |= group;
  return !group ? Release::none : lock_step ? Release::in_lock_step : Release::at_active_mask;
}

bool Warp::is_spinning_before(std::uint32_t position) const {
  for (std::uint32_t rest = yielded_; rest; rest &= rest - 1)
    if (lanes_[std::countr_zero(rest)].position < position)
      return true;
  return false;
}

template <class Predicate> std::uint32_t Warp::lanes_where(std::uint32_t among, Predicate predicate) const {
  std::uint32_t result = 0;
  for (; among; among &= among - 1)
    if (const Lane& lane = lanes_[std::countr_zero(among)]; predicate(lane))
      result |= bit(lane);
  return result;
}

void Warp::answer(std::uint32_t participants) {
  compute(lanes_, participants);
  for (std::uint32_t rest = participants; rest; rest &= rest - 1) {
    Lane& lane = lanes_[std::countr_zero(rest)];
    lane.absent = lane.request.mask & all_ & ~alive_;
  }
  in_operation_ &= ~participants;
  ready_ |= participants;
}

/// Completes warp operations. Lanes that stopped at one instruction execute it together, as converged lanes
/// of a GPU do, whatever their masks are; otherwise the lanes with the same mask are an operation of their
/// own, wherever they are.
bool Warp::complete_operations() {
  const std::uint32_t before = in_operation_;
  for (std::uint32_t rest = before; rest &= in_operation_; rest &= rest - 1) {
    const Lane& first = lanes_[std::countr_zero(rest)];
    const std::uint32_t together = lanes_where(in_operation_, [&](const Lane& lane) {
      return lane.place == first.place && lane.request.kind == first.request.kind;
    });
    std::uint32_t named = 0;
    for (std::uint32_t here = together; here; here &= here - 1)
      named |= lanes_[std::countr_zero(here)].request.mask;
    if (!(named & alive_ & ~together)) {
      answer(together);
      continue;
    }
    const std::uint32_t of_mask =
        lanes_where(in_operation_, [&](const Lane& lane) { return lane.request.mask == first.request.mask; });
    if (!(first.request.mask & alive_ & ~of_mask))
      answer(of_mask);
  }
  return in_operation_ != before;
}

std::uint64_t Warp::perform(Lane& lane, const WarpRequest& request) {
  lane.request = request;
  in_operation_ |= bit(lane);
  polling_ &= ~bit(lane);
  if (in_operation_ == alive_)
    complete_operations();
  wait_until_woken(lane);
  return lane.result;
}

std::uint32_t Warp::active_mask(Lane& lane, std::uint32_t position) {
  lane.position = position;
  in_active_mask_ |= bit(lane);
  lane.execution.suspend();
  return static_cast<std::uint32_t>(lane.result);
}

void Warp::wait_in_lock_step(Lane& lane, std::uint32_t position) {
  lane.position = position;
  in_lock_step_ |= bit(lane);
  lane.execution.suspend();
}

void Warp::yield(Lane& lane, std::uint32_t position) {
  polling_ &= ~bit(lane);
  spin(lane, position);
}

void Warp::poll(Lane& lane) {
  polling_ |= bit(lane);
  sleep(lane);
}

void Warp::sleep(Lane& lane) {
  spin(lane, 0xffffffff);
}

void Warp::spin(Lane& lane, std::uint32_t position) {
  lane.position = position;
  ready_ |= bit(lane);
  yielded_ |= bit(lane);
  lane.execution.suspend();
}

void Warp::wait_for_log(Lane& lane) {
  log_full_ |= bit(lane);
  lane.execution.suspend();
}

void Warp::stop_at_barrier(const Lane& lane) {
  at_barrier_ |= bit(lane);
  polling_ &= ~bit(lane);
}

void Warp::wait_until_woken(Lane& lane) {
  const std::uint32_t before = bit(lane) - 1;
  if (ready_ & bit(lane) && !(ready_ & ~yielded_ & before))
    ready_ &= ~bit(lane);
  else
    lane.execution.suspend();
}

void Warp::exit(Lane& lane) {
  alive_ &= ~bit(lane);
  polling_ &= ~bit(lane);
  block_->lane_exited(lane);
  lane.execution.suspend();
  std::abort(); // a lane that has exited is never resumed
}

void Warp::flush_log() {
  if (merger_)
    merger_->merge(0);
}

/// Returns the lanes that its mask names and that have not arrived with this mask.
std::uint32_t Warp::missed_by(const Lane& waiting) const {
  const std::uint32_t mask = waiting.request.mask;
  return mask & alive_ &
         ~lanes_where(in_operation_, [&](const Lane& lane) { return lane.request.mask == mask; });
}

void Warp::add_waiting(std::vector<Waiting>& groups) const {
  for (std::uint32_t rest = in_operation_ | at_barrier_ | polling_; rest; rest &= rest - 1) {
    const Lane& lane = lanes_[std::countr_zero(rest)];
    const std::string place = lane.place ? lane.place : "an unknown line";
    const std::string what = at_barrier_ & bit(lane) ? block_->describe_barrier(lane)
                             : polling_ & bit(lane)
                                 ? "for an mbarrier"
                                 : fmt::format("for lanes {:#010x} of its warp", missed_by(lane));
    const auto same = std::ranges::find_if(groups, [&](const Waiting& group) {
      return group.what == what && group.place == place && group.last_warp + 1 >= number_;
    });
    if (same == groups.end()) {
      groups.push_back({what, place, number_, number_, 1});
    } else {
      same->last_warp = number_;
      ++same->threads;
    }
  }
}

} // namespace warplens::cpu
