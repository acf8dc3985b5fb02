#include "runtime/cpu/warp.h"

#include "runtime/cpu/block.h"

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
  alive_ = ready_ = lane_count == 32 ? 0xffffffff : (1U << lane_count) - 1;
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
    if (merger_ && make_room())
      continue;
    if (!release_active())
      break;
  }
  return progress;
}

/// Issues what the logs hold, as far as it is known that nothing comes before it. Has a lane room in its log
/// again?
bool Warp::make_room() {
  if (yielded_ && !log_full_)
    return false; // what the spinning lanes will log may come first, and nobody needs the room
  // A spinning lane comes before those behind its loop, but not for ever: the one it waits for may be among
  // them.
  constexpr std::uint32_t patience = 1024;
  const bool wait_for_spinning = yielded_ && ++spins_ < patience;
  if (!wait_for_spinning)
    spins_ = 0;
  const std::uint32_t emptied =
      log_full_ & merger_->merge(wait_for_spinning ? log_full_ | yielded_ : log_full_);
  log_full_ &= ~emptied;
  ready_ |= emptied;
  return emptied != 0;
}

/// The lanes that wait at the first place in program order go on together.
bool Warp::release_active() {
  std::uint32_t first = 0xffffffff, group = 0;
  for (std::uint32_t rest = in_active_mask_; rest; rest &= rest - 1) {
    const Lane& lane = lanes_[std::countr_zero(rest)];
    if (lane.position < first) {
      first = lane.position;
      group = 0;
    }
    if (lane.position == first)
      group |= bit(lane);
  }
  for (std::uint32_t rest = group; rest; rest &= rest - 1)
    lanes_[std::countr_zero(rest)].result = group;
  in_active_mask_ &= ~group;
  ready_ |= group;
  return group != 0;
}

bool Warp::complete(std::uint32_t mask) {
  std::uint32_t participants = 0;
  for (std::uint32_t rest = in_operation_; rest; rest &= rest - 1)
    if (const Lane& lane = lanes_[std::countr_zero(rest)]; lane.request.mask == mask)
      participants |= bit(lane);
  if ((mask & alive_ & ~participants) || !participants)
    return false;
  compute(lanes_, participants);
  in_operation_ &= ~participants;
  ready_ |= participants;
  return true;
}

std::uint64_t Warp::perform(Lane& lane, const WarpRequest& request) {
  lane.request = request;
  lane.request.mask |= bit(lane); // a lane that calls takes part
  in_operation_ |= bit(lane);
  polling_ &= ~bit(lane);
  if (complete(lane.request.mask))
    ready_ &= ~bit(lane); // the last to come need not stop
  else
    lane.execution.suspend();
  return lane.result;
}

std::uint32_t Warp::active_mask(Lane& lane, std::uint32_t position) {
  lane.position = position;
  in_active_mask_ |= bit(lane);
  lane.execution.suspend();
  return static_cast<std::uint32_t>(lane.result);
}

void Warp::yield(Lane& lane) {
  polling_ &= ~bit(lane);
  sleep(lane);
}

void Warp::poll(Lane& lane) {
  polling_ |= bit(lane);
  sleep(lane);
}

void Warp::sleep(Lane& lane) {
  ready_ |= bit(lane);
  yielded_ |= bit(lane);
  lane.execution.suspend();
}

void Warp::wait_for_log(Lane& lane) {
  log_full_ |= bit(lane);
  lane.execution.suspend();
}

void Warp::wait_at_barrier(Lane& lane) {
  at_barrier_ |= bit(lane);
  polling_ &= ~bit(lane);
  lane.execution.suspend();
}

void Warp::exit(Lane& lane) {
  alive_ &= ~bit(lane);
  polling_ &= ~bit(lane);
  // Others may have waited for nobody else.
  for (std::uint32_t rest = in_operation_; rest; rest &= rest - 1)
    if (const Lane& other = lanes_[std::countr_zero(rest)]; in_operation_ & bit(other))
      complete(other.request.mask);
  block_->lane_exited();
  lane.execution.suspend();
  std::abort(); // nobody resumes a lane that has exited
}

void Warp::flush_log() {
  if (merger_)
    merger_->merge(0);
}

void Warp::add_waiting(std::vector<Waiting>& groups) const {
  for (std::uint32_t rest = in_operation_ | at_barrier_ | polling_; rest; rest &= rest - 1) {
    const Lane& lane = lanes_[std::countr_zero(rest)];
    const std::string place = lane.place ? lane.place : "an unknown line";
    const std::string what =
        at_barrier_ & bit(lane) ? "for the rest of the block"
        : polling_ & bit(lane)
            ? "for an mbarrier"
            : fmt::format("for lanes {:#010x} of its warp", lane.request.mask & alive_ & ~in_operation_);
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
