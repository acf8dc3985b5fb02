// Huang and Li's estimate of a placement's time, and PORPLE's, from counts of the changed trace and from what
// the model's caches make of it: baselines beside the model's own time.
#pragma once

#include "model/gpu/gpu.h"
#include "placement/arrays.h"
#include "placement/paper/addressing.h"
#include "placement/paper/bank_arrivals.h"
#include "placement/paper/execution_time.h"
#include "placement/paper/index_groups.h"
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
  bool maps_banks = true;       ///< else requests are spread evenly over the banks
};

/// The work of one launch, counted in its accesses. Sums over all warps of the snapshot.
struct LaunchCounts {
  double global = 0, texture = 0, constant = 0, shared = 0;          ///< requests
  double sectors = 0;                                                ///< of global and texture requests
  double bytes = 0;                                                  ///< that requests to global memory move
  double global_replays = 0, constant_replays = 0, bank_replays = 0; ///< causes 1, 3 and 4
  double atomic_replays = 0, local_replays = 0;                      ///< causes 6 and 9
  double barriers = 0;
  double bulks = 0;        ///< groups of requests of a warp that are on their way together
  double added = 0;        ///< accesses and barriers of copies that a placement adds
  double copied_bytes = 0; ///< that these load from global memory

  double requests() const { return global + texture + constant + shared; }
};

/// Counts the accesses of the launch's first `blocks` blocks. `literal`: without the copies that a placement
/// adds, for which the paper has a time of their own.
Expected<LaunchCounts> count(const trace::AccessSource& source, const trace::Launch& launch,
                             std::uint64_t blocks, const model::Gpu& gpu, Reading reading);

/// The paper's figures of a placement.
struct PaperEstimate {
  TimeParts cycles;
  double microseconds = 0;
  double access_latency = 0;          ///< cycles (5)
  double replays = 0, executed = 0;   ///< instructions per warp
  double instruction_parallelism = 1; ///< (14)
  MemoryLatency memory;               ///< (6 to 10)
  OverlapEvents events;               ///< that the regression takes
};

/// How the equations are read, and what of them.
struct PaperOptions {
  Reading reading = Reading::corrected;
  EstimateParts parts;
  const OverlapModel* overlap = nullptr; ///< the regression; null: Sim et al.'s overlap
};

/// The paper's model of one launch on one GPU: what it holds equal in all placements, counted in that of the
/// trace, and the estimate of each.
class PaperModel {
public:
  /// References must outlive it. `result` is the model's of the trace's placement; `code` one that counts
  /// executed instructions, the same where the GPU's own code is known.
  static Expected<PaperModel> of(const trace::AccessSource& trace, const trace::Launch& launch,
                                 const Arrays& arrays, const KernelResult& result, const KernelResult& code,
                                 const model::Gpu& gpu, const Addressing& addressing,
                                 const PaperOptions& options);

  /// Estimates the placement that `source` is the trace of; `result` is the model's, for the caches' hits.
  Expected<PaperEstimate> estimate(const trace::AccessSource& source, const trace::Launch& launch,
                                   const KernelResult& result, std::span<const Move> moves) const;

private:
  PaperModel(const model::Gpu& gpu, const Addressing& addressing, const PaperOptions& options)
      : gpu_(gpu), addressing_(addressing), options_(options) {}

  const model::Gpu& gpu_;
  const Addressing& addressing_;
  PaperOptions options_;
  IndexGroups groups_;
  double instructions_ = 0; ///< executed, per warp
  double instruction_parallelism_ = 1;
  double replays_ = 0;       ///< of causes 5, 6, 7 and 9, per warp; 8 and 10 are not counted
  double serial_cycles_ = 0; ///< (16)
};

/// Returns PORPLE's estimate in cycles of latency per warp: each memory's requests times its hit latency,
/// and the rest at the latency of memory. It ranks placements; it is no time.
double porple_estimate(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu);

} // namespace warplens::placement
