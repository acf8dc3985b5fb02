// The choices of an explanation, and the presets of them.
#pragma once

#include "significance/belief.h"
#include "significance/selection.h"
#include "significance/targets.h"
#include "support/expected.h"

#include <string>
#include <string_view>

namespace warplens::significance {

/// The groups that counters are summed over, and what they are grouped by.
enum class Grouping {
  access, ///< each access has counters of its own; they are grouped by resource
  kernel, ///< counters of the whole kernel, grouped by resource
  line    ///< each line has counters of its own; they are grouped by line
};

struct ExplainOptions {
  std::string preset = "default";
  /// From 1: the largest number of counters that explain together. Below 1: the paper's sparsity s, for
  /// ceil((1 − s) × counters) of them.
  double sparsity = 4;
  SelectionOptions selection; ///< its `support` follows from `sparsity`, for each region
  std::size_t draws = 5000;
  Measure ranking = Measure::reduction;       ///< the figure that resources are ranked by
  Measure belief = Measure::corrected_belief; ///< the beliefs beside it
  std::uint64_t seed = 1;
  TargetOptions target;
  Grouping grouping = Grouping::access;
  std::string workload; ///< the parameter whose values part the runs into workloads; empty: all are one
};

/// Returns the choices of `default`, `paper` (as arXiv 2408.10143 states them) or `dashing` (as its tool
/// makes them).
Expected<ExplainOptions> preset_named(std::string_view name);

/// Returns kappa for a region: from `sparsity`, and less than its number of runs.
std::size_t support_for(double sparsity, std::size_t counters, std::size_t runs);

} // namespace warplens::significance
