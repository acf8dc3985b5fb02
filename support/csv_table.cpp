#include "support/csv_table.h"

#include "support/parse_number.h"

#include <algorithm>

namespace warplens {

Expected<CsvTable> CsvTable::parse(std::string_view text, const std::string& name) {
  auto rows = parse_csv(text, CsvComments::lines);
  if (!rows)
    return fail("{}: {}", name, rows.error().message);
  if (rows->empty())
    return fail("{}: no row", name);
  CsvTable table;
  table.name_ = name;
  table.columns_ = std::move(rows->front().fields);
  for (const std::string& column : table.columns_)
    if (column.empty() || std::ranges::count(table.columns_, column) > 1)
      return fail("{}:{}: each column needs a name of its own", name, rows->front().line);
  rows->erase(rows->begin());
  for (const CsvRow& row : *rows)
    if (row.fields.size() != table.columns_.size())
      return fail("{}:{}: {} cells, where the first row has {}", name, row.line, row.fields.size(),
                  table.columns_.size());
  table.rows_ = std::move(*rows);
  return table;
}

std::optional<std::size_t> CsvTable::index_of(std::string_view column) const {
  const auto found = std::ranges::find(columns_, column);
  return found == columns_.end() ? std::nullopt : std::optional(std::size_t(found - columns_.begin()));
}

std::string CsvTable::cell(std::size_t row, std::string_view column) const {
  const auto index = index_of(column);
  return index ? rows_[row].fields[*index] : "";
}

Expected<std::optional<double>> CsvTable::number(std::size_t row, std::string_view column) const {
  const std::string text = cell(row, column);
  if (text.empty())
    return std::nullopt;
  const std::optional<double> value = parse_number(text);
  if (!value)
    return fail("{}: '{}' in column {} is not a number", place(row), text, column);
  return value;
}

std::string CsvTable::place(std::size_t row) const {
  return fmt::format("{}:{}", name_, rows_[row].line);
}

} // namespace warplens
