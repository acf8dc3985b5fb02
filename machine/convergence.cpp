// How the lanes of a warp part and meet: convergence barriers (BSSY, BSYNC), WARPSYNC, and the collective
// instructions of sm_90. Participation is kept per lane, since paths that are disjoint use the same barrier
// registers, and BMOV saves each lane's own.
#include "machine/warp.h"

#include <algorithm>
#include <bit>
#include <map>

namespace warplens::machine {
namespace {

/// Returns the lanes that a group waits for.
Mask needed_by(const Warp& warp, const Waiting& group) {
  return group.what == Waiting::For::convergence_barrier
             ? warp.participants[group.barrier][first_lane(group.lanes)]
             : group.needed;
}

bool wait_together(const Waiting& one, const Waiting& other) {
  return one.what == other.what &&
         (one.what != Waiting::For::convergence_barrier || one.barrier == other.barrier) &&
         (one.what != Waiting::For::warpsync || one.needed == other.needed);
}

Mask lanes_waiting_like(const Warp& warp, const Waiting& group) {
  Mask lanes = 0;
  for (const Waiting& other : warp.waiting)
    if (wait_together(group, other))
      lanes |= other.lanes;
  return lanes;
}

/// Takes lanes out of the groups that wait like one of them, and returns them by where they go on.
std::map<std::uint32_t, Mask> take_waiting(Warp& warp, const Waiting like, Mask lanes) {
  std::map<std::uint32_t, Mask> by_pc;
  for (Waiting& group : warp.waiting)
    if (wait_together(like, group) && (group.lanes & lanes) != 0) {
      by_pc[group.pc + 1] |= group.lanes & lanes;
      group.lanes &= ~lanes;
    }
  std::erase_if(warp.waiting, [](const Waiting& group) { return group.lanes == 0; });
  return by_pc;
}

} // namespace

void branch(Warp& warp, std::uint32_t target, Mask taken, BranchOrder order) {
  if (taken == 0) {
    ++warp.pc;
    return;
  }
  const Mask rest = warp.active & ~taken;
  if (rest == 0)
    warp.pc = target;
  else if (order == BranchOrder::taken_first) {
    warp.ready.push_back({warp.pc + 1, rest});
    warp.pc = target;
    warp.active = taken;
  } else {
    warp.ready.push_back({target, taken});
    ++warp.pc;
    warp.active = rest;
  }
}

void branch_by_lane(Warp& warp, Mask taken, const std::array<std::uint32_t, lane_count>& targets) {
  if (taken == 0) {
    ++warp.pc;
    return;
  }
  if (const Mask rest = warp.active & ~taken; rest != 0)
    warp.ready.push_back({warp.pc + 1, rest});
  // Groups by target, the lowest target first.
  std::map<std::uint32_t, Mask> groups;
  for (Mask left = taken; left != 0; left &= left - 1)
    groups[targets[first_lane(left)]] |= Mask{1} << first_lane(left);
  for (auto group = std::next(groups.begin()); group != groups.end(); ++group)
    warp.ready.push_back({group->first, group->second});
  warp.pc = groups.begin()->first;
  warp.active = groups.begin()->second;
}

bool run_next_split(Warp& warp) {
  if (warp.ready.empty())
    return false;
  warp.pc = warp.ready.back().pc;
  warp.active = warp.ready.back().lanes;
  warp.ready.pop_back();
  return true;
}

void rotate_splits(Warp& warp, bool has_yielded) {
  if (warp.ready.empty())
    return;
  const Split oldest = warp.ready.front();
  warp.ready.erase(warp.ready.begin());
  warp.ready.push_back({warp.pc, warp.active, has_yielded});
  warp.pc = oldest.pc;
  warp.active = oldest.lanes;
}

void release_waiting(Warp& warp) {
  for (std::size_t i = 0; i < warp.waiting.size();) {
    const Waiting group = warp.waiting[i];
    const Mask needed = needed_by(warp, group) & warp.alive;
    if (group.what == Waiting::For::collective || (needed & ~lanes_waiting_like(warp, group)) != 0) {
      ++i;
      continue;
    }
    for (const auto& [pc, lanes] : take_waiting(warp, group, needed | group.lanes))
      warp.ready.push_back({pc, lanes});
    i = 0;
  }
}

void wait_for(Warp& warp, Waiting waiting) {
  warp.active &= ~waiting.lanes;
  ++warp.pc;
  warp.waiting.push_back(waiting);
  release_waiting(warp);
  if (warp.active == 0 && !run_next_split(warp))
    warp.state = Warp::State::stuck;
}

void yield_lanes(Warp& warp) {
  Mask yielded = warp.active;
  for (const Split& split : warp.ready)
    if (split.has_yielded)
      yielded |= split.lanes;
  for (const Waiting& group : warp.waiting) {
    if (group.what != Waiting::For::convergence_barrier)
      continue;
    const Mask needed = needed_by(warp, group) & warp.alive;
    const Mask arrived = lanes_waiting_like(warp, group) & needed;
    if ((needed & ~arrived & ~yielded) != 0)
      continue;
    const std::uint8_t barrier = group.barrier;
    const auto released = take_waiting(warp, group, needed);
    for (Mask& participants : warp.participants[barrier])
      participants &= ~arrived;
    for (const auto& [pc, lanes] : released)
      warp.ready.insert(warp.ready.begin(), Split{pc, lanes});
    break;
  }
  rotate_splits(warp, true);
}

void exit_lanes(Warp& warp, Mask lanes) {
  warp.alive &= ~lanes;
  warp.active &= ~lanes;
  ++warp.pc;
  if (!warp.waiting.empty())
    release_waiting(warp);
  if (warp.active == 0 && !run_next_split(warp))
    warp.state = warp.alive != 0 ? Warp::State::stuck : Warp::State::done;
}

} // namespace warplens::machine
