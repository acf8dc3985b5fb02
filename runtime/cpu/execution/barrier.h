// One of a block's barriers (PTX ISA, "bar, barrier"). It counts whole warps: a warp has arrived once all its
// threads that have not exited have, and then counts as 32 threads.
#pragma once

#include "trace/records.h"

#include <array>
#include <cstdint>

namespace warplens::cpu {

class Barrier {
public:
  static constexpr std::uint32_t max_warps = 1024 / warp_lanes;

  /// The lanes of each warp that may continue.
  struct Released {
    std::uint32_t warps = 0; ///< warps with released lanes
    std::array<std::uint32_t, max_warps> lanes;
    std::uint32_t voters = 0,
                  predicates = 0; ///< the number of threads that waited, and of those whose predicate held
  };

  /// Registers the arrival of lane `lane` of warp `warp`. `threads` is the number that the barrier waits for;
  /// 0: all of the block that have not exited. The lane continues once its warp has arrived, or waits for the
  /// barrier. Returns false if other lanes of its warp arrived for a different number of threads.
  bool arrive_lane(std::uint32_t warp, std::uint32_t lane, std::uint32_t threads, bool waits, bool predicate);

  /// Returns whether all lanes `alive`, which have not exited, are here, so that the warp may arrive.
  bool warp_is_present(std::uint32_t warp, std::uint32_t alive) const {
    return present_[warp] != 0 && (alive & ~present_[warp]) == 0;
  }

  /// The number of threads that the barrier waits for, and the different one that the warp arrived for.
  struct Contradiction {
    std::uint32_t expected, arrived_for;
  };
  /// Returns whether the two numbers differ. `block_threads` is the whole block, rounded up to warps: waiting
  /// for that many equals waiting for all.
  bool contradicts(std::uint32_t warp, std::uint32_t block_threads, Contradiction& contradiction) const;

  /// Makes the warp arrive. Returns the lanes that need not wait any longer.
  std::uint32_t arrive(std::uint32_t warp);

  /// Returns whether the barrier is complete. It does not wait for threads that have exited, unless it
  /// counts.
  bool is_complete(std::uint32_t alive_warps) const {
    return arrived_warps_ != 0 &&
           (expected_ ? arrived_threads_ >= expected_ : (alive_warps & ~arrived_warps_) == 0);
  }

  /// Releases the waiting lanes, and resets the barrier.
  Released release();

  // The rest is for messages.

  /// Returns the number of threads that the barrier waits for on behalf of this lane; 0: all.
  std::uint32_t threads_expected_by(std::uint32_t warp, std::uint32_t lane) const {
    return present_[warp] >> lane & 1 ? arrives_for_[warp] : expected_;
  }
  /// Returns whether the lane waits for others of its warp.
  bool waits_for_warp(std::uint32_t warp, std::uint32_t lane) const { return present_[warp] >> lane & 1; }
  std::uint32_t arrived_threads() const { return arrived_threads_; }

private:
  using PerWarp = std::array<std::uint32_t, max_warps>;
  PerWarp present_{};               ///< lanes of a warp that has not arrived
  PerWarp passing_{}, predicate_{}; ///< those that wait for their warp only; those whose predicate holds
  PerWarp arrives_for_{};
  PerWarp waiting_{}; ///< lanes of warps that have arrived
  std::uint32_t arrived_warps_ = 0;
  std::uint32_t arrived_threads_ = 0; ///< a warp may arrive twice, and counts twice
  std::uint32_t expected_ = 0;        ///< 0: all
  std::uint32_t voters_ = 0, predicates_ = 0;
};

} // namespace warplens::cpu
