// The trials of one launch on one GPU, until its figures have converged.
#pragma once

#include "model/cache/l2.h"
#include "model/counts/trial_counts.h"
#include "model/gpu/occupancy.h"
#include "model/model.h"
#include "model/scale/scale_model.h"
#include "model/snapshot/snapshot.h"

#include <span>

namespace warplens::model {

struct Trials {
  std::vector<TrialCounts> counts; ///< in trial order
  bool known_well = false;         ///< all figures have converged in the end
  bool enough = false;             ///< they had at two checks in a row
  bool stopped = false;            ///< Options::stop ended them; otherwise the limit was reached
  // Observations of the first trial:
  std::vector<ObjectResult> objects;
  std::optional<double> cold_miss_share;
  std::optional<LatencyDistribution> dram_latencies;
  std::optional<Timeline> timeline; ///< if Options::timeline_bins is not 0
};

/// Runs trials until the figures have converged or the limit is reached. They are the same for any number of
/// threads, as they may end only after whole batches, or when Options::stop says so, after which those are
/// kept that had ended. `sites` are the trace's. `before` is the content of the L2 when a trial begins, one
/// for each part in which it is modelled; empty: none is known. `scale`: trials run this model instead, and
/// their counts are scaled up; null: they run the snapshot itself.
Trials run_trials(const Snapshot& snapshot, const std::vector<Site>& sites, const trace::Launch& launch,
                  const Gpu& gpu, const Occupancy& occupied, const Options& options,
                  std::span<const L2> before = {}, const ScaleModel* scale = nullptr);

} // namespace warplens::model
