// As many trials of one launch on one GPU as the confidence asked for takes.
#pragma once

#include "model/model.h"
#include "model/occupancy.h"
#include "model/snapshot.h"
#include "model/trial.h"

namespace warplens::model {

struct Trials {
  std::vector<TrialCounts> counts; ///< in trial order
  bool known_well = false;         ///< in the end, as was asked for
  bool enough = false;             ///< known well, and once more; otherwise the limit came first
  // What the first trial told of its course:
  std::vector<ObjectResult> objects;
  std::optional<double> cold_miss_share;
  std::optional<LatencyDistribution> dram_latencies;
  std::optional<Timeline> timeline; ///< only if asked for
};

/// `sites`: the trace's. `before`: what the L2 holds when a trial begins; null: nothing. The same trials for
/// any number of threads: they may end only at certain numbers of them.
Trials run_trials(const Snapshot& snapshot, const std::vector<trace::Site>& sites,
                  const trace::Launch& launch, const Gpu& gpu, const Occupancy& occupied,
                  const Options& options, const L2* before = nullptr);

} // namespace warplens::model
