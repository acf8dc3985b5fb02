// Prints the changes between two results, for a person or a tool.
#pragma once

#include "report/report.h"
#include "report/speed_verdict.h"
#include "report/threshold.h"

#include <nlohmann/json_fwd.hpp>

namespace warplens::report {

struct DifferenceReport {
  std::string before, after; ///< the names of the two results
  const Difference* difference;
  const SpeedComparison* speed;
  const std::vector<Failure>* failures;
};

/// Returns the changes of figures in the format of `warplens-diff/1` and the report page.
nlohmann::ordered_json to_json(const std::vector<FigureChange>& changes);

/// Returns "snapshots differ: 336 of 512 blocks before, 512 of 512 after".
std::string snapshots_of(const KernelChange& kernel);

/// Returns "the L2 begins warm before and cold after: …"; for a change whose l2_starts_differ().
std::string l2_starts_of(const KernelChange& kernel);

/// Returns "only the result before has times, …"; for a change whose only_one_has_time().
std::string times_of(const KernelChange& kernel);

/// Returns "spmv on a100, spmv.cu:13 val[j]: l1_hit_rate 0.82 → 0.61, -0.21 ±0.01".
std::string describe(const Failure& failure);

/// Prints a table of all figures that differ; those beyond their intervals are marked.
std::string print_difference_text(const DifferenceReport& report, const TextOptions& options);

/// Prints `warplens-diff/1`: every figure that both results have, with its difference and interval.
std::string print_difference_json(const DifferenceReport& report);

} // namespace warplens::report
