// Prints the changes between two results, for a person or a tool.
#pragma once

#include "document/document.h"
#include "judge/speed_verdict.h"
#include "judge/threshold.h"

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

/// Returns a section for each kernel with the figures that differ, of which those beyond their intervals are
/// marked; programs read those that are the same, too.
document::Document difference_document(const DifferenceReport& report);

/// Prints `warplens-diff/1`: every figure that both results have, with its difference and interval.
std::string print_difference_json(const DifferenceReport& report);

} // namespace warplens::report
