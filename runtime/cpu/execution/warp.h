// A warp's lanes and their waiting states.
#pragma once

#include "runtime/abi/intrinsics.h"
#include "runtime/cpu/execution/fiber.h"
#include "runtime/cpu/execution/log_merger.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace warplens::cpu {

class Block;
class Warp;

/// A lane's operands of a warp operation.
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
  std::uint32_t number = 0; ///< the number in its warp
  WarpRequest request;
  std::uint32_t absent = 0;   ///< the lanes that its last warp operation named, and that had exited
  std::uint32_t position = 0; ///< the place where it waits in activemask or in lock step, or spins
  std::uint32_t barrier = 0;  ///< the last one that it arrived at
  std::uint64_t result = 0;   ///< the result of the operation that it waited for
};

/// The result of running a warp.
enum class Progress {
  none,     ///< no lane could run
  polling,  ///< lanes ran, and all only found that an mbarrier's phase has not completed
  spinning, ///< lanes ran, and all only found that they must wait longer
  working,
};

/// Threads that wait for the same event at the same place.
struct Waiting {
  std::string what, place;
  std::uint32_t first_warp, last_warp, threads;
};

class Warp {
public:
  void begin(Block& block, std::uint32_t number, Lane* lanes, std::uint32_t lane_count);
  /// Makes the lanes log from now on; their accesses go to the merger's sink.
  void trace(LogMerger& merger) { merger_ = &merger; }

  /// Runs each lane until it waits for others, spins, or exits.
  Progress run();

  bool finished() const { return alive_ == 0; }
  std::uint32_t number() const { return number_; }
  std::uint32_t alive() const { return alive_; }
  /// Returns the lanes that have exited.
  std::uint32_t ended() const { return all_ & ~alive_; }
  Lane* lanes() { return lanes_; }
  /// Describes why its lanes wait, for a message; adds to the groups of preceding warps that wait for the
  /// same event.
  void add_waiting(std::vector<Waiting>& groups) const;
  /// Issues the rest of the logs, which receive no more entries.
  void flush_log();

  // The rest is called on the lane's fiber.

  /// Waits for the others in the mask that have not exited; returns the operation's result for this lane.
  std::uint64_t perform(Lane& lane, const WarpRequest& request);
  std::uint32_t active_mask(Lane& lane, std::uint32_t position);
  void wait_in_lock_step(Lane& lane, std::uint32_t position);
  void yield(Lane& lane, std::uint32_t position);
  /// Yields because an mbarrier's phase has not completed, which only this block's threads can do.
  void poll(Lane& lane);
  /// Yields, and continues as before.
  void sleep(Lane& lane);
  void wait_for_log(Lane& lane);
  /// Marks the lane as waiting at a barrier; it may be woken from now on.
  void stop_at_barrier(const Lane& lane);
  /// Waits until the lane is woken. It does not stop if it has already been woken, unless lanes before it are
  /// ready: a GPU's converged lanes execute a following `if (lane == 0)` before they continue together.
  void wait_until_woken(Lane& lane);
  [[noreturn]] void exit(Lane& lane);

  /// Lets these lanes, which are at a barrier, continue.
  void wake(std::uint32_t lanes) {
    ready_ |= lanes;
    at_barrier_ &= ~lanes;
  }

private:
  static std::uint32_t bit(const Lane& lane) { return 1U << lane.number; }
  void resume(Lane& lane);
  /// Returns those of `among` for which the predicate holds.
  template <class Predicate> std::uint32_t lanes_where(std::uint32_t among, Predicate predicate) const;
  /// Completes the operations at which all live lanes of their masks have arrived. Returns whether there were
  /// any.
  bool complete_operations();
  void answer(std::uint32_t participants);
  std::uint32_t missed_by(const Lane& waiting) const;
  enum class Release { none, at_active_mask, in_lock_step };
  Release release_first();
  bool is_spinning_before(std::uint32_t position) const;
  void spin(Lane& lane, std::uint32_t position);
  bool free_log_space();

  Block* block_ = nullptr;
  std::uint32_t number_ = 0;
  Lane* lanes_ = nullptr;
  LogMerger* merger_ = nullptr;
  std::uint32_t all_ = 0, alive_ = 0;
  // Each live lane that is not running is in exactly one of these.
  std::uint32_t ready_ = 0, log_full_ = 0, in_operation_ = 0, in_active_mask_ = 0, at_barrier_ = 0,
                in_lock_step_ = 0;
  std::uint32_t yielded_ = 0; ///< ready lanes that ran in this round without progress
  std::uint32_t polling_ = 0; ///< yielded lanes that last tested an mbarrier
  std::uint32_t spins_ = 0;   ///< rounds in which lanes with full logs waited for spinning ones
  std::uint32_t held_back_ =
      0; ///< rounds in which lanes in lock step waited for spinning ones that are before them
  std::chrono::steady_clock::time_point held_since_;
  /// The maximum number of such rounds, each of at least 0.1 ms, for they may wait for another block.
  std::uint32_t patience_ = longest_patience;
  static constexpr std::uint32_t longest_patience = 1024, shortest_patience = 16;
};

/// Computes the results of a warp operation: each lane of `participants` gets its own, from the requests of
/// its own and of those participants that its mask names (warp_operations.cpp).
void compute(Lane* lanes, std::uint32_t participants);

} // namespace warplens::cpu
