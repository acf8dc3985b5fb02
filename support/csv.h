// Comma-separated values, as profilers and spreadsheets write them.
#pragma once

#include "support/expected.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warplens {

/// A record: usually a line, but fields in quotes may hold line ends.
struct CsvRow {
  std::size_t line = 0; ///< 1-based, where the record begins
  std::vector<std::string> fields;
};

/// The lines of a table that are no records: none, or those that begin with #.
enum class CsvComments : std::uint8_t { none, lines };

/// Reads RFC 4180: fields in quotes, doubled quotes in them, line ends of any kind. Empty lines are left out.
/// A quote inside of a field that does not begin with one stands for itself, as in profilers' messages. An
/// error names the line: a quote that never closes, or more fields in all than memory is spent on.
Expected<std::vector<CsvRow>> parse_csv(std::string_view text, CsvComments comments = CsvComments::none);

/// Returns the field in quotes where it needs them.
std::string csv_field(std::string_view text);

} // namespace warplens
