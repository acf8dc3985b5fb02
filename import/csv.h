// Comma-separated values, as profilers write them.
#pragma once

#include "support/expected.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::import {

/// A record: usually a line, but fields in quotes may hold line ends.
struct CsvRow {
  std::size_t line = 0; ///< 1-based, where the record begins
  std::vector<std::string> fields;
};

/// Reads RFC 4180: fields in quotes, doubled quotes in them, line ends of any kind. Empty lines are left out.
/// A quote inside of a field that does not begin with one stands for itself, as in profilers' messages. An
/// error names the line: a quote that never closes, or more than `max_fields` fields in all.
Expected<std::vector<CsvRow>> parse_csv(std::string_view text);

/// Returns the field in quotes where it needs them.
std::string csv_field(std::string_view text);

} // namespace warplens::import
