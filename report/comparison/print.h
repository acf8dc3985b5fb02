// Measured beside modelled as text and as JSON, schema `warplens-comparison/1`.
#pragma once

#include "report/comparison/compare.h"
#include "report/report.h"

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

/// Prints per launch the figures side by side, its lines, and in a line or two what has no counterpart.
std::string print_text(const ComparisonReport& report, const report::TextOptions& options);

/// Returns all pairs, and each counter, line, launch and kernel that has no counterpart with its reason.
nlohmann::ordered_json to_json(const ComparisonReport& report);

} // namespace warplens::report::comparison
