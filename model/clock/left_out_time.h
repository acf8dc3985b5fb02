// The time of iterations that warps leave out: those replayed on both sides of them say how long they take.
#pragma once

#include "model/memory/memory.h"
#include "model/sm/cycle.h"
#include "model/snapshot/snapshot.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// Notes when the warps of a trial pass the gaps in their streams, and leaves in the L2 what the iterations
/// left out would.
class LeftOutTime {
public:
  /// The snapshot outlives it.
  explicit LeftOutTime(const Snapshot& snapshot);

  /// Notes that a warp issues an access with which another part of its stream begins.
  void begin(const Access& access, Cycle now, Memory& memory);

  /// Returns by how many cycles each block of Snapshot::blocks would have ended later. `beside`: how many
  /// blocks the SM of each began with. After the trial.
  std::vector<double> delays_of_blocks(std::span<const std::uint32_t> beside) const;

  /// Returns the same as it follows from what warps do together: delays_of_blocks() is too short where some
  /// wait while others pass several iterations, as their schedulers prefer these. `of`: the numbers of the
  /// blocks that are on an SM at the same time, whose work it does in turn.
  double delay_of_sm(std::span<const std::uint32_t> of) const;

  /// Returns the share by which the time of what is left out may be off: iterations behind gaps took longer
  /// or shorter than those measured before, in the mean and from block to block.
  double error() const;

private:
  /// How long a warp took around a gap.
  struct PassedGap {
    double left_out = 0; ///< iterations, for each measured one
    double measured = 0; ///< cycles
    double checked = 0;  ///< cycles that as many iterations behind it take; 0: there are none
  };
  /// A warp has issued that many of its accesses.
  struct Progress {
    Cycle at = 0;
    double accesses = 0;
  };
  struct WarpGaps {
    Cycle since = 0; ///< when the measured iterations began, or those behind the gap
    std::vector<PassedGap> gaps;
    std::vector<Progress> progress; ///< where parts of its stream begin

    double done_at(double now) const;
  };
  std::span<const WarpGaps> warps_of(std::uint32_t block) const {
    const Snapshot::Block& of = snapshot_.blocks[block];
    return std::span(warps_).subspan(of.first_warp, of.warps);
  }
  struct GapPosition {
    std::uint32_t warp = 0, gap = 0;
  };

  const Snapshot& snapshot_;
  std::unordered_map<const Access*, GapPosition> positions_;
  std::vector<WarpGaps> warps_; ///< in the order of Snapshot::warps
};

} // namespace warplens::model
