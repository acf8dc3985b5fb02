// Measured beside modelled as a document and as JSON, schema `warplens-comparison/1`.
#pragma once

#include "document/document.h"
#include "report/comparison/compare.h"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace warplens::report::comparison {

inline constexpr const char* comparison_schema = "warplens-comparison/1";

/// A comparison with what its indexes point into.
struct ComparisonReport {
  std::string result_name;
  std::vector<std::string> measured_names;
  const Result* result = nullptr;
  const std::vector<import::KernelCounters>* launches = nullptr;
  const Comparison* comparison = nullptr;
};

/// Returns a section for each pair with the figures beside each other, those of its lines, and what has no
/// counterpart.
document::Document comparison_document(const ComparisonReport& report);

/// Returns all pairs, and each counter, line, launch and kernel that has no counterpart with its reason.
nlohmann::ordered_json to_json(const ComparisonReport& report);

} // namespace warplens::report::comparison
