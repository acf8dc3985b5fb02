// Runs all blocks of a launch on all cores.
#pragma once

#include "runtime/cpu/execution/block.h"

#include <functional>

namespace warplens::cpu {

/// The traced blocks of a launch.
struct Tracing {
  /// Returns the sink for a block's accesses. Called by the OS thread that is about to run the block; the
  /// sink lives until the block has ended. If it returns null, the block runs untraced after all.
  std::function<std::unique_ptr<WarpAccessSink>(std::uint64_t block)> open_block;
  bool only_these = false; ///< the first block that is not traced ends the launch; not a cooperative one
};

/// A kernel that a block has launched, which runs once the grid has ended.
struct NestedLaunch {
  std::string kernel; ///< mangled
  trace::Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  bool is_tail = false; ///< behind all that the grid has launched otherwise (cudaStreamTailLaunch)
  std::vector<std::byte> parameters;
  std::vector<ParameterRecord> places; ///< of each of them
};

struct GridResult {
  BlockStatus status = BlockStatus::ok;
  std::string message;
  std::uint64_t executed_accesses = 0; ///< lane-level, in the traced blocks
  std::uint64_t probed_accesses = 0;
  std::vector<NestedLaunch> nested; ///< in their order
};

/// Runs all blocks, starting them in increasing id: a block may wait for those before it. All blocks of a
/// cooperative launch are resident at the same time, on as many OS threads as cores; each runs until it waits
/// for others. The environment's WARPLENS_CPU_THREADS limits the number of OS threads (default: one per
/// core); with 1, execution is deterministic, in cooperative launches too.
GridResult run_grid(const Grid& grid, const Tracing* tracing);

/// Returns the number of blocks that run at once.
unsigned worker_threads();

} // namespace warplens::cpu
