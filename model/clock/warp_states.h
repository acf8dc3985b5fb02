// What the warps of a trial do in each cycle, by the instruction that they wait to issue.
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

  void issued(Place at) { ++counts_[at].cycles[std::size_t(WarpState::selected)]; }
  /// Says that a warp waited to issue what is there, or, of a barrier and its end, after what is there.
  void waited(Place at, WarpState why, Cycle cycles) { counts_[at].cycles[std::size_t(why)] += cycles; }
  /// Says that a warp waited for the result of what is there, or at that barrier.
  void awaited(Place at, Cycle cycles) { counts_[at].awaited += cycles; }

  /// Returns what a warp does that waits for the result, or for the pipe of what is there.
  WarpState for_result_of(Place at) const { return kinds_[at].for_result; }
  WarpState for_pipe_of(Place at) const { return kinds_[at].for_pipe; }

  std::vector<StateCounts> counts() && { return std::move(counts_); }

private:
  struct Kind {
    WarpState for_result = WarpState::short_scoreboard;
    WarpState for_pipe = WarpState::math_pipe_throttle;
  };
  static Kind kind_of(sass::InstructionClass instruction);
  static Kind kind_of(const SiteSummary& site);

  std::vector<Kind> kinds_; ///< by Place: of instructions, of sites, and of a warp that has ended
  std::vector<StateCounts> counts_;
};

} // namespace warplens::model
