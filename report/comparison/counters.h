// What profilers measured, alone, as text and as JSON, schema `warplens-counters/1`.
#pragma once

#include "import/kernel_counters.h"
#include "report/report.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::report::comparison {

inline constexpr const char* counters_schema = "warplens-counters/1";

/// Prints per launch its counters, one per line, and those of its source lines.
std::string print_counters(const std::vector<import::KernelCounters>& launches, const TextOptions& options);

/// Returns all of it; bytes are in bytes, times in seconds, percentages as they are.
nlohmann::ordered_json counters_to_json(const std::vector<import::KernelCounters>& launches);

/// Says how many launches the counters are of: "median of 12 launches that took 38.9 to 44.1 µs".
std::string launches_text(const import::KernelCounters& launch);

/// Returns what identifies a launch: its kernel, and device, grid and block where they are stated; how many
/// launches were combined, and how.
nlohmann::ordered_json launch_to_json(const import::KernelCounters& launch);

} // namespace warplens::report::comparison
