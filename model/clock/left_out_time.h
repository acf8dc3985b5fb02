// The time of iterations that warps leave out: those measured in their place say how long they would take.
#pragma once

#include "model/memory/memory.h"
#include "model/sm/cycle.h"
#include "model/snapshot/snapshot.h"

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

  /// Returns by how many cycles a block, an index into Snapshot::blocks, would have ended later.
  double of_block(std::uint32_t block) const;

  /// Returns the share by which iterations behind gaps took longer than those measured before; the mean over
  /// the iterations left out.
  double error() const { return measured_ == 0 ? 0 : checked_ / measured_ - 1; }

private:
  struct OfWarp {
    const Gap* gap = nullptr; ///< the one that it is before or behind
    Cycle since = 0;          ///< when the measured iterations began, or those behind the gap
    Cycle measured = 0;       ///< for how long the measured ones took
    double left_out = 0;      ///< cycles
  };
  struct Place {
    std::uint32_t warp = 0, gap = 0;
  };

  const Snapshot& snapshot_;
  std::unordered_map<const Access*, Place> places_;
  std::vector<OfWarp> warps_;         ///< in the order of Snapshot::warps
  double measured_ = 0, checked_ = 0; ///< cycles of what is left out, by the iterations before and behind it
};

} // namespace warplens::model
