// The times of a program by the values of its parameters: what `warplens ab` prints with -P or -L.
#pragma once

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

/// Prints a table with a line for each configuration and a column for each GPU, the best time of each marked,
/// and last a sentence for each GPU.
std::string print_scan_text(const ScanReport& report);

/// Prints the same as Markdown.
std::string print_scan_markdown(const ScanReport& report);

/// Prints `warplens-scan/1`; docs/schemas/scan.json is its schema.
std::string print_scan_json(const ScanReport& report);

} // namespace warplens::report
