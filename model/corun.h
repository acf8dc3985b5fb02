// Kernels beside each other on the machine itself: trials of each alone and of all together.
#pragma once

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
  Division division = Division::streams;
  /// Division::sms: the percentage of the SMs that each launch has. Division::blocks: its blocks on each SM.
  /// Empty: equal shares of the SMs; as many blocks of each as ICMT-EVEN gives, where there are two.
  std::vector<double> shares;
  bool share_memory = false; ///< equal addresses are one memory, as those of two streams of one program
  std::uint32_t trials = 4;  ///< at least 2
  std::uint64_t seed = 1;
  unsigned threads = 0;                         ///< maximum; 0: all cores. The result does not depend on it
  std::optional<std::uint64_t> snapshot_blocks; ///< of each launch; empty: as many as the GPU needs
};

/// Runs the launches alone and beside each other. The error says
/// which launch cannot be run, or which shares are impossible.
Expected<CorunResult> corun(std::span<const CorunLaunch> launches, const Gpu& gpu,
                            const CorunOptions& options);

} // namespace warplens::model
