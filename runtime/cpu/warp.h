// A warp's lanes and what they wait for.
#pragma once

#include "runtime/cpu/fiber.h"
#include "runtime/cpu/intrinsics.h"
#include "runtime/cpu/log_merger.h"

#include <array>
#include <chrono>
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
  std::uint32_t absent = 0;   ///< the lanes that its last warp operation named, and that had ended
  std::uint32_t position = 0; ///< where it waits in activemask or in lock step, or spins
  std::uint32_t barrier = 0;  ///< the one it came to last
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
  std::uint32_t number() const { return number_; }
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
  void wait_in_lock_step(Lane& lane, std::uint32_t position);
  void yield(Lane& lane, std::uint32_t position);
  /// Yields because an mbarrier's phase has not completed, which only this block's threads can do.
  void poll(Lane& lane);
  /// Yields, and goes on to do what it did before.
  void sleep(Lane& lane);
  void wait_for_log(Lane& lane);
  /// The lane has come to a barrier, and may be woken from now on.
  void stop_at_barrier(const Lane& lane);
  /// The lane does not stop where it has been woken already, unless lanes before it are ready: a GPU's
  /// converged lanes execute an `if (lane == 0)` that follows before they go on together.
  void wait_until_woken(Lane& lane);
  [[noreturn]] void exit(Lane& lane);

  /// These lanes, which are at a barrier, go on.
  void wake(std::uint32_t lanes) { ready_ |= lanes, at_barrier_ &= ~lanes; }

private:
  static std::uint32_t bit(const Lane& lane) { return 1U << lane.number; }
  void resume(Lane& lane);
  /// Those of `among` for which the predicate holds.
  template <class Predicate> std::uint32_t lanes_where(std::uint32_t among, Predicate predicate) const;
  /// Completes the operations to which all have come that their masks name and that are alive. Were there
  /// any?
  bool complete_operations();
  void answer(std::uint32_t participants);
  std::uint32_t missed_by(const Lane& waiting) const;
  enum class Release { none, at_active_mask, in_lock_step };
  Release release_first();
  bool is_spinning_before(std::uint32_t position) const;
  void spin(Lane& lane, std::uint32_t position);
  bool make_room();

  Block* block_ = nullptr;
  std::uint32_t number_ = 0;
  Lane* lanes_ = nullptr;
  LogMerger* merger_ = nullptr;
  std::uint32_t all_ = 0, alive_ = 0;
  // Each lane that is alive and not running is in exactly one of these.
  std::uint32_t ready_ = 0, log_full_ = 0, in_operation_ = 0, in_active_mask_ = 0, at_barrier_ = 0,
                in_lock_step_ = 0;
  std::uint32_t yielded_ = 0; ///< of the ready ones: these ran in this round, and found nothing to do
  std::uint32_t polling_ = 0; ///< of these, what they did last was to look at an mbarrier
  std::uint32_t spins_ = 0;   ///< rounds in which lanes with full logs waited for spinning ones
  std::uint32_t held_back_ =
      0; ///< rounds in which lanes in lock step waited for spinning ones that are before them
  std::chrono::steady_clock::time_point held_since_;
  /// How many such rounds there may be, and at least: each of 0.1 ms, for they may wait for another block.
  std::uint32_t patience_ = longest_patience;
  static constexpr std::uint32_t longest_patience = 1024, shortest_patience = 16;
};

/// The results of a warp operation: for each lane of `participants` its own, from the requests of those of
/// them that its mask names, and its own (warp_operations.cpp).
void compute(Lane* lanes, std::uint32_t participants);

} // namespace warplens::cpu
