// Leaves out iterations in the middle of long loops: what repeats is described, not written, so that a whole
// wave of blocks fits into a trace.
#pragma once

#include "machine/execute.h"
#include "runtime/cpu/machine/execution_recorder.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace warplens::cpu {

/// A sink before a recorder. A warp's loop repeats where its iterations execute the same instructions with
/// the same lanes, and each access to global or local memory advances by a constant of its own. Of such a
/// loop the first iterations, some that are to be measured, and the last ones are recorded; for those in
/// between the recorder gets their number and the accesses of the first and the last of them. Where an
/// iteration differs, all is recorded again until the loop has repeated for as long. Of loops in each other
/// only one leaves out iterations: the outer one, unless the inner one is long itself.
class IterationSampler : public machine::Sink {
public:
  /// Iterations that a loop leaves out.
  struct LeftOut {
    std::uint64_t iterations = 0; ///< their number, a multiple of:
    std::uint64_t at_a_time = 0;  ///< behind as many, all accesses begin at the same place in a line again
  };
  using LeftOutOfLoops = std::map<std::uint32_t, LeftOut>; ///< by the loops' heads

  /// `apart`: what another block's loops leave out, so that this one records other iterations of them than
  /// its neighbours do: blocks of one that has run for long are not in step. Empty: the first ones.
  IterationSampler(ExecutionRecorder& recorder, std::uint32_t warps_per_block, LeftOutOfLoops apart = {})
      : recorder_(recorder), apart_(std::move(apart)), warps_(warps_per_block) {}

  void on_run(machine::WarpId warp, std::uint32_t first, std::uint32_t count, machine::Mask active) override;
  void on_access(machine::WarpId warp, const machine::Access& access) override;
  void on_barrier(machine::WarpId warp, const machine::Arrival& arrival) override;

  /// Records what is held back: the block has ended.
  void end_block(std::uint64_t block);

  /// Returns whether the block's warps left out the same number of barriers. Otherwise those that are
  /// recorded do not fit together. After end_block().
  bool meet_at_barriers() const { return meet_at_barriers_; }

  /// Returns what the warp with the least to leave out has left out of each loop.
  const LeftOutOfLoops& left_out() const { return left_out_; }

  /// Returns the number of iterations that are measured, of a loop of which a block's `warps` make
  /// that many accesses in each; one begins at the same place in a line every `period` iterations: a power of
  /// two. As many are recorded before them, and at least half as many behind those left out.
  static std::uint64_t measured_iterations(std::uint64_t accesses, std::uint64_t period, std::size_t warps);

private:
  /// A run, an access or a barrier.
  struct Event {
    enum class Kind : std::uint8_t { run, access, barrier } kind = Kind::run;
    std::uint32_t first = 0, count = 0; ///< of a run; `first`: the instruction of a barrier
    machine::Mask active = 0;
    std::optional<machine::Access> access = {}; ///< whose addresses are:
    std::array<std::uint64_t, machine::lane_count> addresses = {};
    std::int64_t step = 0; ///< by which these advance with an iteration of the loop that holds it back
    machine::Arrival arrival = {}; ///< of a barrier

    /// All warps of the block meet there.
    bool is_of_block() const { return kind == Kind::barrier && !arrival.phase; }
  };
  /// Two sums over the addresses of an access's lanes: if both advance by as much as they would for a step of
  /// all lanes, all lanes advance.
  struct Place {
    std::uint64_t sum = 0, weighted = 0;
  };
  /// Iterations are recorded in place of some that are that many before them.
  struct Later {
    std::int64_t by = 0;
    std::int64_t at_most = 0; ///< of other blocks
  };
  struct Loop {
    std::uint32_t head = 0, end = 0; ///< its instructions
    machine::Mask active = 0;
    std::uint64_t iterations = 0;     ///< that have ended
    std::uint64_t stable = 0;         ///< the last of these that were like the one before each
    std::uint64_t hash = 0, last = 0; ///< of the iteration so far, and of the one before
    std::uint64_t accesses = 0;       ///< of the iteration so far
    std::uint64_t period = 1;         ///< of the lines that the iteration so far begins in
    bool has_barriers = false;
    bool is_unique = false;           ///< the iteration so far is like no other
    std::vector<Place> places;        ///< of its last accesses to global and local memory, in order
    std::size_t next_place = 0;       ///< that the next access has
    std::deque<std::uint64_t> starts; ///< ExecutionRecorder::accesses_of() as recent iterations began
    std::uint64_t measured = 0;       ///< iterations
    Later later;                      ///< which are recorded
  };
  /// Iterations that are not recorded yet.
  struct Held {
    std::deque<std::vector<Event>> iterations;
    std::vector<Event> now;          ///< of the iteration that has begun
    std::uint64_t left_out = 0;      ///< iterations
    std::uint64_t measured = 0;      ///< likewise, in place of those
    std::uint64_t measured_from = 0; ///< ExecutionRecorder::accesses_of() as the measured ones began
    std::vector<Event> first, last;  ///< of those left out
  };
  struct OfWarp {
    std::vector<Loop> loops;     ///< the outer ones first
    std::uint32_t last_end = 0;  ///< behind the last run
    std::vector<Event> accesses; ///< since that
    std::unique_ptr<Held> held;  ///< of the last loop; or null
    std::uint64_t barriers_left_out = 0;
  };

  static bool is_of_shared_memory(const Event& event);
  static std::int64_t note(Loop& loop, const Event& event);
  Later later_by(machine::WarpId warp, std::uint32_t head) const;
  static std::array<std::uint64_t, machine::lane_count> moved(const Event& event, std::int64_t by);
  bool end_iteration(Loop& loop, std::uint64_t recorded);
  bool enter(machine::WarpId warp, OfWarp& of, std::uint32_t first, machine::Mask active);
  bool hold_iteration(machine::WarpId warp, OfWarp& of);
  void record(machine::WarpId warp, OfWarp& of, const Event& event, std::size_t loops, std::int64_t by = 0);
  void record_held(machine::WarpId warp, OfWarp& of);

  ExecutionRecorder& recorder_;
  LeftOutOfLoops apart_, left_out_;
  std::vector<OfWarp> warps_;
  std::map<std::uint32_t, std::uint64_t> measured_at_barriers_; ///< iterations, by the heads of loops
  bool meet_at_barriers_ = true;
};

} // namespace warplens::cpu
