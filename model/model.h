// The Monte Carlo model: a trace's snapshots through a GPU's memory hierarchy, once per trial.
#pragma once

#include "model/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace warplens::model {

/// Half of an interval of the mean (ci95) that is narrow enough.
struct Confidence {
  double rate = 0.005;   ///< of hit rates, which are fractions
  double latency = 0.02; ///< of latencies, as a share of the mean
};

/// This process among those that work out one result together, as MPI numbers them.
struct Ranks {
  std::uint32_t rank = 0, count = 1;
  /// What each process hands in, by rank. All of them call it equally often; it waits for the last one. Never
  /// called where there is but one.
  std::function<std::vector<std::vector<std::byte>>(std::vector<std::byte>)> exchange;
};

struct Options {
  std::uint32_t trials = 64; ///< at most; at least 2: one has no interval
  /// Trials end once all that matters is known so well (confidence.h); zeros: never before `trials`.
  Confidence confidence;
  bool cold = false; ///< launches begin with an empty L2, else with what is known to be in it
  std::uint64_t seed = 1;
  /// Of each launch the trace's first so many blocks; empty: as many as each GPU asks for (snapshot_threads).
  std::optional<std::uint64_t> snapshot_blocks;
  unsigned threads = 0;            ///< at most; 0: all cores. The result does not depend on it
  std::uint32_t timeline_bins = 0; ///< 0: no timeline
  /// Every process gets all trials' figures; what a first trial alone can tell is known to rank 0 only.
  Ranks ranks;
  /// Called with done and at most possible trials of one kernel on one GPU, from any thread, one call at a
  /// time.
  std::function<void(const std::string& kernel, const std::string& gpu, std::uint32_t done,
                     std::uint32_t total)>
      progress;
};

/// The error is one line: a damaged trace, or a launch that one of the GPUs cannot run (its blocks are too
/// large for it). One KernelResult per traced launch and GPU. Equal to the bit for equal trace, GPUs, trials
/// and seed, whatever the number of threads
/// and of processes.
Expected<Result> evaluate(const trace::Reader& trace, const std::vector<Gpu>& gpus, const Options& options);

} // namespace warplens::model
