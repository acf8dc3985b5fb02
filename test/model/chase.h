// A pointer chase: one thread follows pointers through a working set. GPUs have been measured with it, so it
// can check a GPU file's caches. It is the program of RRZE-HPC/gpu-benches (gpu-latency), step by step: each
// line holds 16 pointers of 8 bytes; a lap visits all lines in one random order, and the next lap uses the
// next pointer of each. A launch follows a million pointers (or one lap, if that is more) from the chain's
// start; two launches precede the one that is timed. So a launch begins with an empty L1 and, unless it ends
// with a whole lap, its first loads are of lines that the launch before it loaded last.
#pragma once

#include "model/cache/l2.h"
#include "model/dram/dram.h"
#include "model/gpu/gpu.h"
#include "numeric/random.h"

#include <vector>

namespace warplens::model {

inline constexpr unsigned chase_pointers_per_line = 16, chase_warming_launches = 2;

/// Returns the number of loads in one launch.
constexpr std::uint32_t chase_loads(std::uint32_t lines) {
  constexpr std::uint32_t million = 1'000'000;
  return lines > million ? lines : million;
}

/// Returns the lines 0 to lines − 1 in random order.
std::vector<std::uint32_t> chase_order(std::uint32_t lines, Random& random);

/// The L2 and memory, as one SM uses them with one load at a time.
class L2OfOneSm {
public:
  L2OfOneSm(const Gpu& gpu, const Random& random);
  /// Loads sectors of a line and returns the latency, in nanoseconds. What misses in the SM's partition of
  /// the L2 goes to the one that the line belongs to.
  double load_ns(std::uint32_t line, unsigned sectors);

private:
  const Gpu& gpu_;
  std::vector<L2> partitions_; ///< the SM's own is the first
  Dram dram_;
};

/// Returns the mean latency of a load of the timed launch, in nanoseconds. The L1 has its maximum size.
double chase_latency_ns(const Gpu& gpu, std::uint32_t lines, Random random);

} // namespace warplens::model
