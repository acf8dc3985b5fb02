#include "runtime/cpu/machine/poll_filter.h"

#include <algorithm>
#include <utility>

namespace warplens::cpu {
namespace {

constexpr std::size_t max_held = 1024; ///< events of an iteration: loops that wait are short

}

void PollFilter::on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count,
                        machine::Mask active) {
  Poll& poll = polls_[warp.warp];
  end_where_lanes_meet(warp, poll, active);
  if (!holds(poll, active))
    return sink_.on_run(warp, first, count, active);
  poll.now.push_back({.first = first, .count = count, .active = active});
  if (poll.now.size() > max_held)
    end(warp, poll);
}

void PollFilter::on_access(machine::WarpId warp, const machine::Access& access) {
  Poll& poll = polls_[warp.warp];
  end_where_lanes_meet(warp, poll, access.lanes);
  const bool is_poll = access.instruction == poll.instruction;
  if ((access.is_store || access.is_atomic) && !is_poll)
    end(warp, poll);
  if (!holds(poll, access.lanes))
    return sink_.on_access(warp, access);
  Event& event = poll.now.emplace_back();
  event.active = access.lanes;
  event.access = access;
  std::ranges::copy(access.addresses, event.addresses.begin());
}

void PollFilter::on_answer(machine::WarpId warp, std::uint32_t instruction, machine::Mask active,
                           std::uint64_t answer) {
  Poll& poll = polls_[warp.warp];
  if (poll.holds && (instruction != poll.instruction || active != poll.active))
    return;
  const bool is_same = poll.instruction == instruction && poll.active == active && poll.answer == answer;
  if (!is_same) {
    poll = {.instruction = instruction, .active = active, .answer = answer};
    return;
  }
  if (!std::exchange(poll.holds, true))
    return;
  ++poll.times;
  std::swap(poll.iteration, poll.now);
  poll.now.clear();
}

void PollFilter::on_barrier(machine::WarpId warp, const machine::Arrival& arrival) {
  end(warp, polls_[warp.warp]);
  sink_.on_barrier(warp, arrival);
}

void PollFilter::end_block(std::uint64_t block) {
  for (std::uint32_t warp = 0; warp < polls_.size(); ++warp)
    end({block, warp}, polls_[warp]);
}

void PollFilter::tell(machine::WarpId warp, const std::vector<Event>& events) {
  for (const Event& event : events)
    if (!event.access)
      sink_.on_run(warp, event.first, event.count, event.active);
    else {
      machine::Access access = *event.access;
      access.addresses = event.addresses;
      sink_.on_access(warp, access);
    }
}

/// Ends a poll whose lanes go on together with others: they have left the loop, though the answer did not
/// change.
void PollFilter::end_where_lanes_meet(machine::WarpId warp, Poll& poll, machine::Mask lanes) {
  if (poll.holds && (lanes & poll.active) != 0 && (lanes & ~poll.active) != 0)
    end(warp, poll);
}

/// Tells what was held back, as the answer did not change.
void PollFilter::end(machine::WarpId warp, Poll& poll) {
  for (; poll.times != 0; --poll.times)
    tell(warp, poll.iteration);
  tell(warp, poll.now);
  poll = {};
}

} // namespace warplens::cpu
