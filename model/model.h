// The Monte Carlo model: it replays a trace's snapshots in a GPU's memory hierarchy, once per trial.
#pragma once

#include "model/gpu/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/access_source.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace warplens::model {

/// Half-widths of the mean's interval (ci95) below which a figure has converged.
struct Confidence {
  double rate = 0.01;    ///< of hit rates, which are fractions
  double latency = 0.03; ///< of latencies, as a share of the mean
};

/// The rank of this process among those that compute one result together, as MPI numbers them.
struct Ranks {
  std::uint32_t rank = 0, count = 1;
  /// Takes this process's bytes and returns each process's, by rank. All processes call it equally often, and
  /// it waits for the last of them. A single process never calls it.
  std::function<std::vector<std::vector<std::byte>>(std::vector<std::byte>)> exchange;
};

/// How far the trials of one kernel on one GPU have come.
struct TrialProgress {
  std::size_t number = 0; ///< of the kernel and GPU: the index into Result::kernels
  std::string kernel, gpu;
  std::uint32_t done = 0, most = 0; ///< trials
  std::uint32_t divisor = 1;        ///< ScaleModel::divisor
  std::optional<Statistic>
      microseconds; ///< of the launch, so far; empty before two trials, or without a clock
  std::optional<double> l1_hits, l2_hits; ///< shares so far
};

/// The content of the L2 when a launch begins: what the trace shows that copies, fills and earlier launches
/// left, nothing, or also what the launch itself leaves, as where a benchmark repeats it.
enum class L2Begin : std::uint8_t { left, cold, warm };

struct Options {
  std::uint32_t trials = 16; ///< maximum; at least 2, as a single one has no interval
  /// Trials end once the figures have converged (confidence.h); zeros: only after `trials`.
  Confidence confidence;
  /// --schedule paper: the trials have no clock, and warps issue in the paper's weighted round robin.
  bool without_clock = false;
  /// Returns whether the launch is to be modelled; the others still leave their lines in the L2. Empty: all.
  std::function<bool(const trace::Launch&)> wants_launch;
  L2Begin l2_begin = L2Begin::left;
  std::uint64_t seed = 1;
  /// Number of blocks, from each launch's first on; empty: as many as each GPU needs (snapshot_threads).
  std::optional<std::uint64_t> snapshot_blocks;
  /// The ways of warps are inferred even where their machine code was executed: what is compared with changed
  /// traces, for which it was not, is modelled as they are.
  bool infers_ways = false;
  bool first_blocks_only = false;  ///< windows behind a launch's first blocks are left out
  unsigned threads = 0;            ///< maximum; 0: all cores. The result does not depend on it
  std::uint32_t timeline_bins = 0; ///< 0: no timeline
  bool sharing = false;            ///< KernelResult::sharing, which takes further trials
  /// The processes divide the modelled launches and GPUs where these are at least as many as they, else the
  /// trials of each. The result of rank 0 is whole; figures of the first trial may be absent from the
  /// others'.
  Ranks ranks;
  /// Registers of a thread of kernels for which no machine code says them; empty: they limit nothing.
  std::optional<std::uint32_t> registers;
  /// The model calls it before the trials of a kernel on a GPU, in the process that has the result, with what
  /// is known without them: launch, occupancy, registers, and the accesses' requests, sectors, banks and
  /// lanes.
  std::function<void(const KernelResult&)> before_trials;
  /// The model calls it after each trial, from any thread, one call at a time.
  std::function<void(const TrialProgress&)> progress;
  std::size_t number = 0; ///< TrialProgress::number, which evaluate() sets
  /// A first answer: the work on each kernel that is aimed at (scale/scale_model.h), for which trials run a
  /// part of the snapshot on as large a part of the machine, and are as many as that allows; 0: all of it.
  std::uint64_t first_answer_work = 0;
  /// Returns whether the trials are to end now, with what is known; the model asks often, from any thread.
  /// Empty: never.
  std::function<bool()> stop;
  /// The same launches and GPUs modelled before, if not null: what stands where trials end before there are
  /// two.
  const std::vector<KernelResult>* first_answer = nullptr;
  /// Returns whether the kernel of this number is to be modelled again; the first answer stands for the
  /// others. Empty: all are.
  std::function<bool(std::size_t number)> refines;
};

/// Returns a result with one KernelResult per traced launch and GPU. It is equal to the bit for equal trace,
/// GPUs, trials and seed, whatever the number of threads and of processes. The error is one line: a damaged
/// trace, or a launch that one of the GPUs cannot run (its blocks are too large for it).
Expected<Result> evaluate(const trace::AccessSource& trace, const std::vector<Gpu>& gpus,
                          const Options& options);

} // namespace warplens::model
