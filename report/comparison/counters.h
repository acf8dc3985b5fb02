// Counters that profilers measured, without a prediction: as a document, and as JSON (`warplens-counters/1`).
#pragma once

#include "document/document.h"
#include "import/kernel_counters.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace warplens::report::comparison {

inline constexpr const char* counters_schema = "warplens-counters/1";

/// Returns a section for each launch: its counters, a row each, and those of its source lines.
document::Document counters_document(const std::vector<import::KernelCounters>& launches);

/// Returns all of it; bytes are in bytes, times in seconds, percentages as they are.
nlohmann::ordered_json counters_to_json(const std::vector<import::KernelCounters>& launches);

/// Says how many launches the counters are of: "median of 12 launches that took 38.9 to 44.1 µs".
std::string launches_text(const import::KernelCounters& launch);

/// Returns a grid or block as "(256, 1, 1)"; "?" where it is not stated.
std::string extents_text(const std::optional<import::Extents>& extents);

/// Returns what identifies a launch: its kernel, and device, grid and block where they are stated; how many
/// launches were combined, and how.
nlohmann::ordered_json launch_to_json(const import::KernelCounters& launch);

} // namespace warplens::report::comparison
