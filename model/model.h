// The Monte Carlo model: a trace's snapshots through a GPU's memory hierarchy, once per trial.
#pragma once

#include "model/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <functional>
#include <vector>

namespace warplens::model {

/// Half of an interval of the mean (ci95) that is narrow enough.
struct Confidence {
  double rate = 0.005;   ///< of hit rates, which are fractions
  double latency = 0.02; ///< of latencies, as a share of the mean
};

struct Options {
  std::uint32_t trials = 64; ///< at most; at least 2: one has no interval
  /// Trials end once all that matters is known so well (confidence.h); zeros: never before `trials`.
  Confidence confidence;
  std::uint64_t seed = 1;
  unsigned threads = 0;            ///< at most; 0: all cores. The result does not depend on it
  std::uint32_t timeline_bins = 0; ///< 0: no timeline
  /// Called with done and at most possible trials of one kernel on one GPU, from any thread, one call at a
  /// time.
  std::function<void(const std::string& kernel, const std::string& gpu, std::uint32_t done,
                     std::uint32_t total)>
      progress;
};

/// The error is one line: a damaged trace, or a launch that one of the GPUs cannot run (its blocks are too
/// large for it). One KernelResult per traced launch and GPU. Equal to the bit for equal trace, GPUs, trials
/// and seed, whatever the number of threads.
Expected<Result> evaluate(const trace::Reader& trace, const std::vector<Gpu>& gpus, const Options& options);

} // namespace warplens::model
