// Kernels beside each other on the machine itself: trials of each alone and of all together.
#pragma once

#include "model/arrangement.h"
#include "model/gpu/gpu.h"
#include "model/model.h"
#include "result/corun.h"
#include "trace/reader.h"

#include <span>
#include <vector>

namespace warplens::model {

/// A traced launch that runs beside others.
struct CorunLaunch {
  const trace::Reader* trace = nullptr;
  const trace::Launch* launch = nullptr;
};

struct CorunOptions {
  bool share_memory = false; ///< equal addresses are one memory, as those of two streams of one program
  std::uint32_t trials = 4;  ///< at least 2
  std::uint64_t seed = 1;
  std::uint32_t timeline_bins = 0;              ///< 0: no timeline
  unsigned threads = 0;                         ///< maximum; 0: all cores. The result does not depend on it
  std::optional<std::uint64_t> snapshot_blocks; ///< of each launch; empty: as many as the GPU needs
};

/// Runs the launches alone, and beside each other in each of the arrangements. Returns a result for each of
/// these, or why the launches cannot be arranged so. The error says which launch cannot be run at all.
Expected<std::vector<Expected<CorunResult>>> corun(std::span<const CorunLaunch> launches, const Gpu& gpu,
                                                   std::span<const Arrangement> arrangements,
                                                   const CorunOptions& options);

} // namespace warplens::model
