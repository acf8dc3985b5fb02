// One trial over its cycles, binned: the data of a kernel's time-lapse.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warplens {

/// The figures of one trial over time. Each vector has one entry per bin, which is a stretch of cycles of the
/// SM clock. Requests are warp accesses that go to the memory hierarchy (not to shared memory).
struct Timeline {
  /// Sectors that were looked up, and those of them that hit (in an L1 without sectors: lines).
  struct Lookups {
    std::vector<std::uint64_t> hits, all;
  };
  struct Line {
    std::string file;
    std::uint32_t line = 0;
    std::vector<std::uint64_t> counts; ///< executions of the line's sites
  };
  struct Sm {
    std::vector<std::uint64_t> l1_hits, l1_all, requests;
    std::vector<std::uint64_t> instructions; ///< of warps, that it issued; empty like those of all
  };
  struct Channel {
    std::vector<std::uint64_t> requests; ///< lines that were read or written, at least in part
    /// The sectors that were read, those that were written, and the rows that banks activated for them. Empty
    /// in results of before these were counted.
    std::vector<std::uint64_t> reads, writes, activations;
    std::vector<double> outstanding; ///< mean number of them that have reached the L2 but are not yet served
  };

  std::uint32_t trial = 0;
  std::uint64_t requests = 0, cycles = 0;
  double ns_per_cycle = 0;
  std::vector<std::uint64_t> edges; ///< cycles, one more than bins: 0, …, cycles
  Lookups l1, l2;
  std::vector<double> outstanding; ///< mean number of requests issued but not yet answered
  std::vector<std::uint64_t>
      instructions; ///< of warps, that all SMs issued; empty where only accesses are known
  std::vector<std::vector<std::uint64_t>> active_lanes; ///< requests with 1–4, 5–8, … 29–32 lanes active
  std::vector<Line> lines;                              ///< ordered by file, line
  std::vector<Sm> sms;
  std::vector<Lookups> slices; ///< slices of the L2, each with its own addresses
  std::vector<Channel> channels;
};

inline constexpr std::size_t timeline_lane_rows = 8;

} // namespace warplens
