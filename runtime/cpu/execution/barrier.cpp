#include "runtime/cpu/execution/barrier.h"

#include <bit>

namespace warplens::cpu {

bool Barrier::arrive_lane(std::uint32_t warp, std::uint32_t lane, std::uint32_t threads, bool waits,
                          bool predicate) {
  const std::uint32_t bit = 1U << lane;
  if (present_[warp] == 0) {
    arrives_for_[warp] = threads;
    passing_[warp] = predicate_[warp] = 0;
  }
  present_[warp] |= bit;
  if (!waits)
    passing_[warp] |= bit;
  if (predicate)
    predicate_[warp] |= bit;
  return arrives_for_[warp] == threads;
}

bool Barrier::contradicts(std::uint32_t warp, std::uint32_t block_threads,
                          Contradiction& contradiction) const {
  const auto counted = [&](std::uint32_t threads) { return threads ? threads : block_threads; };
  contradiction = {expected_, arrives_for_[warp]};
  return arrived_warps_ != 0 && counted(expected_) != counted(arrives_for_[warp]);
}

std::uint32_t Barrier::arrive(std::uint32_t warp) {
  const std::uint32_t passing = passing_[warp], waiting = present_[warp] & ~passing;
  waiting_[warp] |= waiting;
  voters_ += static_cast<std::uint32_t>(std::popcount(waiting));
  predicates_ += static_cast<std::uint32_t>(std::popcount(predicate_[warp]));
  if (arrives_for_[warp])
    expected_ = arrives_for_[warp];
  arrived_warps_ |= 1U << warp;
  arrived_threads_ += warp_lanes;
  present_[warp] = 0;
  return passing;
}

Barrier::Released Barrier::release() {
  Released released;
  released.voters = voters_;
  released.predicates = predicates_;
  for (std::uint32_t rest = arrived_warps_; rest; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(rest));
    released.lanes[warp] = waiting_[warp];
    released.warps |= waiting_[warp] ? 1U << warp : 0;
    waiting_[warp] = 0;
  }
  arrived_warps_ = arrived_threads_ = expected_ = voters_ = predicates_ = 0;
  return released;
}

} // namespace warplens::cpu
