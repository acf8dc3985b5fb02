// The Monte Carlo model: a trace's snapshots through a GPU's memory hierarchy, once per trial.
#pragma once

#include "model/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <functional>
#include <vector>

namespace warplens::model {

struct Options {
  std::uint32_t trials = 64; ///< at least 2: one has no interval
  std::uint64_t seed = 1;
  unsigned threads = 0; ///< at most; 0: all cores. The result does not depend on it
  /// Called with done and total trials of one kernel on one GPU, from any thread, one call at a time.
  std::function<void(const std::string& kernel, const std::string& gpu, std::uint32_t done,
                     std::uint32_t total)>
      progress;
};

/// The error is one line: a damaged trace, or a launch that one of the GPUs cannot run (its blocks are too
/// large for it). One KernelResult per traced launch and GPU. Equal to the bit for equal trace, GPUs, trials
/// and seed, whatever the number of threads.
Expected<Result> evaluate(const trace::Reader& trace, const std::vector<Gpu>& gpus, const Options& options);

} // namespace warplens::model
