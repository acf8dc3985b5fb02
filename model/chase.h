// A pointer chase: one thread follows pointers through a working set. What GPUs have been measured with, and
// so what a GPU file's caches can be compared with. It is the program of RRZE-HPC/gpu-benches (gpu-latency),
// step by step: each line holds 16 pointers of 8 bytes; a lap goes through all lines in one random order, and
// the next lap by the next pointer of each. A launch follows a million pointers (or one lap, if that is more)
// from the chain's start; two launches come before the one that is timed. So a launch begins with an empty L1
// and, unless its laps come out even, its first loads are of what the launch before it loaded last.
#pragma once

#include "model/gpu.h"
#include "model/random.h"

#include <vector>

namespace warplens::model {

inline constexpr unsigned chase_pointers_per_line = 16, chase_warming_launches = 2;

/// Of one launch.
constexpr std::uint32_t chase_loads(std::uint32_t lines) {
  constexpr std::uint32_t million = 1'000'000;
  return lines > million ? lines : million;
}

/// The lines 0 to lines − 1 in random order.
std::vector<std::uint32_t> chase_order(std::uint32_t lines, Random& random);

/// Mean latency of a load of the timed launch, in nanoseconds. The L1 has its largest size.
double chase_latency_ns(const Gpu& gpu, std::uint32_t lines, Random random);

} // namespace warplens::model
