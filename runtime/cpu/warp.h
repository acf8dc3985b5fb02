// A warp's lanes and what they wait for.
#pragma once

#include "runtime/cpu/fiber.h"
#include "runtime/cpu/intrinsics.h"
#include "runtime/cpu/log_merger.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warplens::cpu {

class Block;
class Warp;

/// What a lane brings to a warp operation.
struct WarpRequest {
  enum class Kind { barrier, shuffle, ballot, vote, match_any, match_all, reduce };
  Kind kind = Kind::barrier;
  std::uint32_t mode = 0; ///< Shuffle, Vote or Reduction
  std::uint32_t mask = 0;
  std::uint64_t value = 0;
  std::uint32_t source = 0, clamp = 0; ///< shuffles
};

/// A CUDA thread with a fiber of its own.
struct Lane : LaneContext {
  Fiber execution;
  Warp* warp = nullptr;
  std::uint32_t number = 0; ///< in its warp
  WarpRequest request;
  std::uint32_t position = 0; ///< where it waits in activemask
  std::uint64_t result = 0;   ///< of what it waited for
};

/// How far a warp came.
enum class Progress {
  none,     ///< no lane could run
  polling,  ///< lanes ran, and all of them only to find that an mbarrier's phase has not completed
  spinning, ///< lanes ran, and all of them only to find that they must go on waiting
  working,
};

/// Threads that wait for the same, at the same place.
struct Waiting {
  std::string what, place;
  std::uint32_t first_warp, last_warp, threads;
};

class Warp {
public:
  void begin(Block& block, std::uint32_t number, Lane* lanes, std::uint32_t lane_count);
  /// From now on the lanes log; their accesses go where the merger was told.
  void trace(LogMerger& merger) { merger_ = &merger; }

  /// Runs each lane until it waits for others, spins, or ends.
  Progress run();

  bool finished() const { return alive_ == 0; }
  std::uint32_t alive() const { return alive_; }
  Lane* lanes() { return lanes_; }
  /// What keeps its lanes waiting, for a message; adds to the groups of warps before it that wait for the
  /// same.
  void add_waiting(std::vector<Waiting>& groups) const;
  /// Issues all that the logs hold: no more will come.
  void flush_log();

  // Called on the lane's fiber.

  /// Waits for the others in the mask that have not exited; the operation's result for this lane.
  std::uint64_t perform(Lane& lane, const WarpRequest& request);
  std::uint32_t active_mask(Lane& lane, std::uint32_t position);
  void yield(Lane& lane);
  /// Yields because an mbarrier's phase has not completed, which only this block's threads can do.
  void poll(Lane& lane);
  /// Yields, and goes on to do what it did before.
  void sleep(Lane& lane);
  void wait_for_log(Lane& lane);
  /// Until wake().
  void wait_at_barrier(Lane& lane);
  [[noreturn]] void exit(Lane& lane);

  /// The lane that runs, woken by itself, need not stop.
  void go_on(const Lane& lane) { ready_ &= ~bit(lane); }
  void wake(const Lane& lane) { ready_ |= bit(lane), at_barrier_ &= ~bit(lane); }

private:
  static std::uint32_t bit(const Lane& lane) { return 1U << lane.number; }
  void resume(Lane& lane);
  /// Completes the operation that lanes wait in with this mask, if all have come.
  bool complete(std::uint32_t mask);
  bool release_active();
  bool make_room();

  Block* block_ = nullptr;
  std::uint32_t number_ = 0;
  Lane* lanes_ = nullptr;
  LogMerger* merger_ = nullptr;
  std::uint32_t alive_ = 0;
  // Each lane that is alive and not running is in exactly one of these.
  std::uint32_t ready_ = 0, log_full_ = 0, in_operation_ = 0, in_active_mask_ = 0, at_barrier_ = 0;
  std::uint32_t yielded_ = 0; ///< of the ready ones: these ran in this round, and found nothing to do
  std::uint32_t polling_ = 0; ///< of these, what they did last was to look at an mbarrier
  std::uint32_t spins_ = 0;   ///< rounds in which lanes with full logs waited for spinning ones
};

/// The results of a warp operation: for each lane of `participants` its own, from all their requests
/// (warp_operations.cpp).
void compute(Lane* lanes, std::uint32_t participants);

} // namespace warplens::cpu
