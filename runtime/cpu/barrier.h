// One of a block's barriers (PTX ISA, "bar, barrier"). It counts whole warps: a warp has arrived once all its
// threads that have not exited came, and then counts as 32 threads.
#pragma once

#include "trace/records.h"

#include <array>
#include <cstdint>

namespace warplens::cpu {

class Barrier {
public:
  static constexpr std::uint32_t max_warps = 1024 / trace::warp_lanes;

  /// Which lanes of each warp go on.
  struct Released {
    std::uint32_t warps = 0; ///< those that have any
    std::array<std::uint32_t, max_warps> lanes;
    std::uint32_t voters = 0, predicates = 0; ///< how many threads waited, and of how many the predicate held
  };

  /// Lane number `lane` of warp number `warp` comes. `threads` is how many the barrier waits for; 0: all of
  /// the block that have not exited. The lane goes on once its warp has arrived, or waits for the barrier.
  /// False: other lanes of its warp came for another number of threads.
  bool come(std::uint32_t warp, std::uint32_t lane, std::uint32_t threads, bool waits, bool predicate);

  /// Has the warp, of which the lanes `alive` have not exited, come? Then it arrives.
  bool warp_has_come(std::uint32_t warp, std::uint32_t alive) const {
    return came_[warp] != 0 && (alive & ~came_[warp]) == 0;
  }

  /// Which number of threads it waits for now, and which the warp came for, where they contradict each other.
  struct Contradiction {
    std::uint32_t expected, came_for;
  };
  /// `block_threads` is the whole block, rounded up to warps: waiting for that many is no contradiction to
  /// waiting for all.
  bool contradicts(std::uint32_t warp, std::uint32_t block_threads, Contradiction& contradiction) const;

  /// The warp arrives. Returns the lanes that need not wait any longer.
  std::uint32_t arrive(std::uint32_t warp);

  /// Have all arrived that it waits for? A thread that has exited is not waited for, unless the barrier
  /// counts.
  bool is_complete(std::uint32_t alive_warps) const {
    return arrived_warps_ != 0 &&
           (expected_ ? arrived_threads_ >= expected_ : (alive_warps & ~arrived_warps_) == 0);
  }

  /// Those that waited go on, and the barrier waits anew.
  Released release();

  // For messages.

  /// Does the barrier wait for a number of threads, as far as this lane is concerned? 0: for all.
  std::uint32_t threads_expected_by(std::uint32_t warp, std::uint32_t lane) const {
    return came_[warp] >> lane & 1 ? came_for_[warp] : expected_;
  }
  /// Does the lane wait for others of its warp?
  bool waits_for_warp(std::uint32_t warp, std::uint32_t lane) const { return came_[warp] >> lane & 1; }
  std::uint32_t arrived_threads() const { return arrived_threads_; }

private:
  using PerWarp = std::array<std::uint32_t, max_warps>;
  PerWarp came_{};                  ///< lanes of a warp that has not arrived
  PerWarp passing_{}, predicate_{}; ///< of these: they wait for their warp only; their predicate holds
  PerWarp came_for_{};
  PerWarp waiting_{}; ///< lanes of warps that have arrived
  std::uint32_t arrived_warps_ = 0;
  std::uint32_t arrived_threads_ = 0; ///< a warp may arrive twice, and counts twice
  std::uint32_t expected_ = 0;        ///< 0: all
  std::uint32_t voters_ = 0, predicates_ = 0;
};

} // namespace warplens::cpu
