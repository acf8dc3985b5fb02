// A kernel's use of a GPU on which it runs alone, from which quick estimates tell how it shares an SM and the
// L2 with another kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

struct SharingProfile {
  /// The resources that a block takes of its SM.
  struct Block {
    std::uint32_t warps = 0, registers = 0, shared_bytes = 0;
  } block;

  /// A pipe of an SM's scheduler, as the kernel's instructions use it.
  struct Pipe {
    std::string name;    ///< of a Resource
    double share = 0;    ///< of the instructions of warps
    double interval = 0; ///< cycles for which one holds the pipe
    double latency = 0;  ///< mean cycles until its result is there
    /// [d]: the share of the pipe's instructions whose result the d-th instruction after them needs; [0] is
    /// 0.
    std::vector<double> distances;
  };
  std::vector<Pipe> pipes;
  double held_share = 0; ///< of the warps' time: at barriers, and until a branch's target is known
  double warps = 0;      ///< per SM, mean over time and SMs

  /// The kernel's requests to the L2, which are of lines.
  struct L2 {
    std::uint32_t ways = 0;  ///< of the L2's sets
    double requests = 0;     ///< in the snapshot
    double instructions = 0; ///< of warps, in the snapshot
    /// [i]: the share of the requests that miss with i + 1 ways of each set, by the distances between
    /// requests of a line within its set, of which a sample is taken.
    std::vector<double> misses;
    /// The kernel's time with a part of the L2's ways, from trials.
    struct Cut {
      std::uint32_t ways = 0;
      double seconds = 0; ///< of the snapshot's blocks
      double misses = 0;  ///< the share of the requests, by `misses`
      std::optional<double>
          dram_busy; ///< the share of that time in which memory is busy; older results lack it
    };
    std::vector<Cut> cuts; ///< ascending ways; the last one has all
  } l2;
};

} // namespace warplens
