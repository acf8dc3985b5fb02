// The document of an analysis of many runs, and its JSON, schema `warplens-significance/1`.
#pragma once

#include "document/document.h"
#include "significance/significance.h"

#include <string>

namespace warplens::report {

/// Returns per region the verdict, the resources with the counters that make them, and what to try; then
/// comparisons and similarities.
document::Document significance_document(const significance::Significance& significance);

/// Prints the JSON of the analysis, indented, with a final newline.
std::string print_significance_json(const significance::Significance& significance);

} // namespace warplens::report
