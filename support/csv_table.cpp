#include "support/csv_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warplens {
namespace {

/// Splits a text into rows of cells. Cells in quotes may hold commas, line ends and doubled quotes.
class Splitter {
public:
  explicit Splitter(std::string_view text) : left_(text) {}

  bool at_end() const { return left_.empty(); }
  std::size_t line() const { return line_; }

  /// Skips a line; returns it without its end.
  std::string_view skip_line() {
    const std::string_view line = left_.substr(0, left_.find('\n'));
    left_.remove_prefix(std::min(left_.size(), line.size() + 1));
    ++line_;
    return line;
  }
  bool begins_with_comment() const {
    return left_.starts_with('#') || left_.starts_with('\n') || left_.starts_with("\r\n");
  }

  /// Returns the cells of the next row; nothing if a quote stays open.
  std::optional<std::vector<std::string>> row() {
    std::vector<std::string> cells(1);
    bool quoted = false;
    while (!left_.empty()) {
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '\n')
        ++line_;
      if (quoted && c == '"' && left_.starts_with('"')) {
        cells.back() += '"';
        left_.remove_prefix(1);
      } else if (c == '"') {
        quoted = !quoted;
      } else if (quoted) {
        cells.back() += c;
      } else if (c == ',') {
        cells.emplace_back();
      } else if (c == '\n') {
        return cells;
      } else if (c != '\r') {
        cells.back() += c;
      }
    }
    return quoted ? std::nullopt : std::optional(cells);
  }

private:
  std::string_view left_;
  std::size_t line_ = 1;
};

} // namespace

Expected<CsvTable> CsvTable::parse(std::string_view text, const std::string& name) {
  CsvTable table;
  table.name_ = name;
  Splitter splitter(text);
  while (!splitter.at_end()) {
    if (splitter.begins_with_comment()) {
      splitter.skip_line();
      continue;
    }
    const std::size_t line = splitter.line();
    auto cells = splitter.row();
    if (!cells)
      return fail("{}:{}: a quote that nothing closes", name, line);
    if (table.columns_.empty()) {
      table.columns_ = std::move(*cells);
      for (const std::string& column : table.columns_)
        if (column.empty() || std::ranges::count(table.columns_, column) > 1)
          return fail("{}:{}: each column needs a name of its own", name, line);
      continue;
    }
    if (cells->size() != table.columns_.size())
      return fail("{}:{}: {} cells, where the first row has {}", name, line, cells->size(),
                  table.columns_.size());
    table.rows_.push_back({line, std::move(*cells)});
  }
  if (table.columns_.empty())
    return fail("{}: no row", name);
  return table;
}

std::optional<std::size_t> CsvTable::index_of(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  return found == columns_.end() ? std::nullopt : std::optional(std::size_t(found - columns_.begin()));
}

std::string CsvTable::cell(std::size_t row, std::string_view column) const {
  const auto index = index_of(column);
  return index ? rows_[row].cells[*index] : "";
}

Expected<std::optional<double>> CsvTable::number(std::size_t row, std::string_view column) const {
  const std::string text = cell(row, column);
  if (text.empty())
    return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return fail("{}: '{}' in column {} is not a number", place(row), text, column);
  return value;
}

std::string CsvTable::place(std::size_t row) const {
  return fmt::format("{}:{}", name_, rows_[row].line);
}

} // namespace warplens
