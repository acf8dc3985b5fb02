// Finds the levels of the hierarchy that a pointer chase shows: the capacity of each, and the latency beyond
// it.
#pragma once

#include "calibration/curves.h"
#include "support/expected.h"

namespace warplens::calibration {

/// A cache as a chase sees it: LRU in sets that a contiguous working set fills evenly (docs/replacement.md).
struct Level {
  double kib = 0; ///< the working set that fits before the first load misses
  unsigned ways = 0;
  double beyond_cycles = 0; ///< latency once every load misses here
};

struct Levels {
  double hit_cycles = 0;       ///< latency in the first level
  std::vector<Level> levels;   ///< one to four, the smallest first
  double within_5_percent = 0; ///< share of the points that the levels explain to within 5 %

  double latency_cycles(double kib) const;
};

/// Returns the share of loads that miss, in cyclic order through `lines` lines: sets with more lines than
/// ways miss always, the others never.
double miss_ratio(std::uint64_t lines, std::uint64_t sets, unsigned ways);

/// Fits as many levels as the curve shows, without prior knowledge of sizes. The error says that the curve is
/// too short or flat.
Expected<Levels> fit_levels(const std::vector<ChasePoint>& chase);

} // namespace warplens::calibration
