// Tables of comma-separated values (RFC 4180) whose first row names the columns.
#pragma once

#include "support/csv.h"
#include "support/expected.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens {

class CsvTable {
public:
  /// Reads a table. Lines that begin with # and empty ones are skipped. The error names the line: a row with
  /// another number of cells than the first, a column without a name or with another one's, an open quote.
  static Expected<CsvTable> parse(std::string_view text, const std::string& name);

  const std::string& name() const { return name_; } ///< of the file, for messages
  const std::vector<std::string>& columns() const { return columns_; }
  std::size_t rows() const { return rows_.size(); }
  bool has(std::string_view column) const { return index_of(column).has_value(); }

  /// Returns a cell; empty where there is no such column.
  std::string cell(std::size_t row, std::string_view column) const;
  /// Returns a cell as a number: nothing for an empty one, or where there is no such column. The error names
  /// file, line and column.
  Expected<std::optional<double>> number(std::size_t row, std::string_view column) const;
  /// Returns "FILE:LINE" of a row.
  std::string place(std::size_t row) const;

private:
  std::optional<std::size_t> index_of(std::string_view column) const;

  std::string name_;
  std::vector<std::string> columns_;
  std::vector<CsvRow> rows_;
};

} // namespace warplens
