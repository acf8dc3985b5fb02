// Prints the changes between two results, for a person or a tool.
#pragma once

#include "judge/speed_verdict.h"
#include "judge/threshold.h"
#include "report/report.h"

#include <nlohmann/json_fwd.hpp>

namespace warplens::report {

struct DifferenceReport {
  std::string before, after; ///< the names of the two results
  const judge::Difference* difference;
  const judge::SpeedComparison* speed;
  const std::vector<judge::Failure>* failures;
};

/// Returns the changes of figures in the format of `warplens-diff/1` and the report page.
nlohmann::ordered_json to_json(const std::vector<judge::FigureChange>& changes);

/// Returns "spmv on a100, spmv.cu:13 val[j]: l1_hit_rate 0.82 → 0.61, -0.21 ±0.01".
std::string describe(const judge::Failure& failure);

/// Prints a table of all figures that differ; those beyond their intervals are marked.
std::string print_difference_text(const DifferenceReport& report, const TextOptions& options);

/// Prints `warplens-diff/1`: every figure that both results have, with its difference and interval.
std::string print_difference_json(const DifferenceReport& report);

} // namespace warplens::report
