// The shares of its GPU's rates that a kernel reaches, and how soon the same work could be done at best: the
// roofline.
#pragma once

#include "result/result.h"

#include <optional>
#include <vector>

namespace warplens {

/// The least time that the work for one resource takes.
struct LimitOfTime {
  Resource resource;
  double microseconds = 0;
};

struct PipeUse {
  Resource pipe;            ///< an execution pipe, or the issue of instructions
  double share_of_peak = 0; ///< of what all SMs could do in the launch's time
};

struct OperationsOfPrecision {
  const char* precision; ///< "fp32", or "tensor"
  double operations = 0; ///< of lanes, in the launch
  double per_ns = 0;
};

/// The figures of a whole launch: counts of the snapshot are multiplied by the blocks of the launch for each
/// block of the snapshot, as the time is.
struct Headroom {
  double scale = 1;
  std::optional<double> waves; ///< blocks of the launch over those that are resident at once
  double dram_read_bytes = 0, dram_write_bytes = 0;
  double dram_write_bytes_before = 0; ///< of those written, what was in the L2 before the launch
  double dram_bytes_per_ns = 0, dram_share_of_peak = 0;
  std::optional<double> instructions;            ///< of warps; where the code is known
  std::vector<PipeUse> pipes;                    ///< those in use, the busiest first; where the code is known
  std::vector<OperationsOfPrecision> operations; ///< those that are not 0; where the code is known
  /// The time of DRAM by the bytes moved and the rate that it can reach, of the L2's slices, of the issue and
  /// of the execution pipes; the longest first.
  std::vector<LimitOfTime> limits;
  double launch_us = 0;      ///< that any launch takes
  double roofline_us = 0;    ///< the longest of these, and what any launch takes
  double times_roofline = 1; ///< the launch's time over it
};

/// Returns the number of blocks of the launch for each block of the snapshot: the factor from a count in the
/// snapshot to the launch's estimate. It is 1 if the snapshot holds the whole launch, or its size is not
/// known.
double blocks_per_snapshot_block(const KernelResult& kernel);

/// Returns the rate in bytes per nanosecond at which memory can move these bytes, at most: reads and writes
/// in turn take longer than reads, or writes, alone.
double reachable_dram_bytes_per_ns(const Machine& machine, double read_bytes, double write_bytes);

/// Returns what the kernel reaches; nothing if it has no time, or its GPU's rates are not known.
std::optional<Headroom> headroom_of(const KernelResult& kernel);

} // namespace warplens
