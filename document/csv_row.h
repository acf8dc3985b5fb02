// A row of a table in CSV, RFC 4180: rows end with CR LF, fields with commas, quotes or line ends are quoted.
#pragma once

#include "support/csv.h"

#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::document {

class CsvRow {
public:
  CsvRow& add(std::string_view text) {
    line_ += (is_begun_ ? "," : "") + csv_field(text);
    is_begun_ = true;
    return *this;
  }

  CsvRow& add(std::uint64_t value) { return add(fmt::format("{}", value)); }

  /// Adds a figure; one that is not known, or is no number, is an empty field.
  CsvRow& add(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? add(fmt::format("{}", *value)) : add("");
  }

  std::string end() const { return line_ + "\r\n"; }

private:
  std::string line_;
  bool is_begun_ = false;
};

} // namespace warplens::document
