// Counts the cycles of a trial's warps by their state and by the program counter at which they are in it.
#pragma once

#include "model/clock/timed_code.h"
#include "model/counts/trial_counts.h"
#include "model/snapshot/snapshot.h"

#include <vector>

namespace warplens::model {

class WarpStates {
public:
  /// `code`: that of the snapshot, or null where it has none.
  WarpStates(const Snapshot& snapshot, const TimedCode* code);

  void issued(Pc at) { ++counts_[at].cycles[std::size_t(WarpState::selected)]; }
  /// Counts cycles in which a warp was stalled on this PC; at a barrier or at the warp's end, the PC is that
  /// of the instruction before.
  void waited(Pc at, WarpState why, Cycle cycles) { counts_[at].cycles[std::size_t(why)] += cycles; }
  /// Counts cycles in which a warp was stalled on the result of this PC's instruction, or at its barrier.
  void awaited(Pc at, Cycle cycles) { counts_[at].awaited += cycles; }

  /// Returns the state of a warp that is stalled on the result, or on the pipe, of this PC's instruction.
  WarpState for_result_of(Pc at) const { return kinds_[at].for_result; }
  WarpState for_pipe_of(Pc at) const { return kinds_[at].for_pipe; }

  std::vector<StateCounts> counts() && { return std::move(counts_); }

private:
  struct Kind {
    WarpState for_result = WarpState::short_scoreboard;
    WarpState for_pipe = WarpState::math_pipe_throttle;
  };
  static Kind kind_of(sass::InstructionClass instruction);
  static Kind kind_of(const SiteSummary& site);

  std::vector<Kind> kinds_; ///< by Pc: of instructions, of sites, and of a warp that has ended
  std::vector<StateCounts> counts_;
};

} // namespace warplens::model
