// Arrivals at barriers in shared memory that a warp makes by its asynchronous copies (LDGSTS; PTX ISA,
// "cp.async.mbarrier.arrive"): each is there when all copies are that the warp issued before it. The warp
// goes on meanwhile.
#pragma once

#include "model/clock/barrier_phases.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warplens::model {

class CopiedArrivals {
public:
  using Last = BarrierPhases::Last;

  void resize(std::size_t warps) { warps_.resize(std::max(warps_.size(), warps)); }
  /// Notes that a warp issues a copy; returns the number of its batch, those between two arrivals.
  std::uint32_t begin_copy(WarpNumber warp) {
    WarpArrivals& of = warps_[warp];
    ++of.batches.back().unknown;
    return of.first + std::uint32_t(of.batches.size() - 1);
  }
  /// Notes that a copy is there. Calls `over(phase, last)` for each arrival that it was the last copy of.
  template <class Over> void end_copy(WarpNumber warp, std::uint32_t batch, const Last& copy, Over&& over) {
    Batch& of = warps_[warp].batches[batch - warps_[warp].first];
    of.copies = std::max(of.copies, copy);
    --of.unknown;
    settle(warps_[warp], over);
  }
  /// Notes that a warp arrives; `own`: when the instruction itself is done. Calls `over(phase, last)` if its
  /// copies are there.
  template <class Over> void arrive(WarpNumber warp, std::uint32_t phase, const Last& own, Over&& over) {
    WarpArrivals& of = warps_[warp];
    of.batches.back().phase = phase;
    of.batches.back().arrival = own;
    of.batches.emplace_back();
    settle(of, over);
  }

private:
  struct Batch {
    std::uint32_t unknown = 0; ///< copies without an answer so far
    std::uint32_t phase = 0;   ///< of the arrival behind them
    Last copies, arrival;
  };
  struct WarpArrivals {
    std::uint32_t first = 0;       ///< the number of the first batch
    std::vector<Batch> batches{1}; ///< behind those that are there; no arrival has followed the last one
    Last copies;                   ///< of the batches that are there
  };

  template <class Over> static void settle(WarpArrivals& of, Over&& over) {
    std::size_t there = 0;
    for (; there + 1 < of.batches.size() && of.batches[there].unknown == 0; ++there) {
      of.copies = std::max(of.copies, of.batches[there].copies);
      over(of.batches[there].phase, std::max(of.copies, of.batches[there].arrival));
    }
    of.batches.erase(of.batches.begin(), of.batches.begin() + std::ptrdiff_t(there));
    of.first += std::uint32_t(there);
  }

  std::vector<WarpArrivals> warps_; ///< by WarpNumber
};

} // namespace warplens::model
