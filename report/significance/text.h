// Prints what an analysis of many runs found, for a person or a tool.
#pragma once

#include "report/report.h"
#include "significance/significance.h"

namespace warplens::report {

/// Prints per region the verdict, the resources with the counters that make them, and what to try; then
/// comparisons and similarities. Names from the runs reach the terminal with their control characters made
/// visible.
std::string print_significance_text(const significance::Significance& significance,
                                    const TextOptions& options);

/// Prints the JSON of the analysis, indented, with a final newline.
std::string print_significance_json(const significance::Significance& significance);

} // namespace warplens::report
