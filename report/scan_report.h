// The times of a program by the values of its parameters: what `warplens ab` prints with -P or -L.
#pragma once

#include "document/document.h"
#include "judge/scan.h"

#include <string>
#include <utility>
#include <vector>

namespace warplens::report {

inline constexpr const char* scan_schema = "warplens-scan/1";

struct ScanReport {
  std::string program;
  /// Each configuration has its parameters' names and values.
  std::vector<std::vector<std::pair<std::string, std::string>>> configurations;
  std::vector<judge::ScannedGpu> gpus;
  double tolerance = judge::default_tolerance;
};

/// Returns a table with a row for each configuration and a time for each GPU, the best time of each marked,
/// and a sentence for each GPU.
document::Document scan_document(const ScanReport& report);

/// Prints `warplens-scan/1`; docs/schemas/scan.json is its schema.
std::string print_scan_json(const ScanReport& report);

} // namespace warplens::report
