// Huang and Li's estimate of a placement's time, and PORPLE's, from counts of the changed trace and from what
// the model's caches make of it: baselines beside the model's own time.
#pragma once

#include "model/gpu/gpu.h"
#include "placement/paper/addressing.h"
#include "placement/paper/execution_time.h"
#include "placement/paper/overlap.h"
#include "result/result.h"
#include "trace/access_source.h"

#include <optional>

namespace warplens::placement {

/// Parts of the paper's model that can be left out, as its evaluation does. Without all: executed
/// instructions, constant DRAM latency.
struct EstimateParts {
  bool counts_replays = true;   ///< else executed instructions alone
  bool counts_addresses = true; ///< else those of the trace's placement
  bool queues_dram = true;      ///< else the idle latency of memory
};

/// What one launch does, counted in its accesses. Sums over all warps of the snapshot.
struct LaunchCounts {
  std::uint64_t warps = 0;
  double global = 0, texture = 0, constant = 0, shared = 0; ///< requests
  double sectors = 0;                                       ///< of global and texture requests
  double bytes = 0;                                         ///< that requests to global memory move
  double global_replays = 0, constant_replays = 0, bank_replays = 0;
  double barriers = 0;
  double bulks = 0;                ///< groups of requests of a warp that are on their way together
  double address_instructions = 0; ///< that moved sites add to those of the code

  double requests() const { return global + texture + constant + shared; }
};

/// Counts the accesses of the launch's first `blocks` blocks.
Expected<LaunchCounts> count(const trace::AccessSource& source, const trace::Launch& launch,
                             std::uint64_t blocks, const model::Gpu& gpu, Reading reading);

/// The paper's figures of a placement.
struct PaperEstimate {
  TimeParts cycles;
  double microseconds = 0;
  double access_latency = 0;        ///< cycles
  double replays = 0, executed = 0; ///< instructions per warp
  OverlapEvents events;             ///< that the regression takes
};

/// Estimates the launch's time. `result` is the model's of the same placement, for the caches' hits and the
/// latency of DRAM; `instructions` are those that a warp executes in the trace's placement. `overlap`: the
/// regression; null: Sim et al.'s overlap.
PaperEstimate paper_estimate(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu,
                             double instructions, Reading reading, const EstimateParts& parts = {},
                             const OverlapModel* overlap = nullptr);

/// Returns PORPLE's estimate in cycles of latency per warp: each memory's requests times its hit latency,
/// and the rest at the latency of memory. It ranks placements; it is no time.
double porple_estimate(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu);

/// Returns the events of the regression.
OverlapEvents overlap_events(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu);

} // namespace warplens::placement
