// What changed between two results, for a person or a tool.
#pragma once

#include "report/report.h"
#include "report/threshold.h"

namespace warplens::report {

struct DifferenceReport {
  std::string before, after; ///< what the two results are called
  const Difference* difference;
  const std::vector<Failure>* failures;
};

/// "spmv on a100, spmv.cu:13 val[j]: l1_hit_rate 0.82 → 0.61, -0.21 ±0.01".
std::string describe(const Failure& failure);

/// A table of all figures that differ; those beyond their intervals are marked.
std::string print_difference_text(const DifferenceReport& report, const TextOptions& options);

/// `warplens-diff/1`: every figure that both results have, with its difference and interval.
std::string print_difference_json(const DifferenceReport& report);

} // namespace warplens::report
