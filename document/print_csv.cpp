#include "document/csv_row.h"
#include "document/print.h"
#include "document/table_parts.h"

#include <fmt/format.h>

namespace warplens::document {
namespace {

std::string heading_of(const Table& table, const std::vector<std::size_t>& columns) {
  CsvRow fields;
  for (const std::size_t index : columns) {
    const Column& column = table.columns[index];
    const std::string unit = column.unit.empty() ? "" : fmt::format(" [{}]", column.unit);
    fields.add(column.heading + unit);
    if (column.kind == Kind::interval)
      for (const char* const bound : {"low", "high"})
        fields.add(fmt::format("{} {}{}", column.heading, bound, unit));
  }
  return fields.end();
}

std::string row_of(const Table& table, const std::vector<std::size_t>& columns, const Row& row) {
  CsvRow fields;
  for (const std::size_t index : columns) {
    const Cell& cell = row.cells[index];
    if (!is_figure(table.columns[index].kind)) {
      fields.add(cell.text);
      continue;
    }
    fields.add(cell.value);
    if (table.columns[index].kind == Kind::interval) {
      fields.add(cell.interval ? std::optional(cell.interval->first) : std::nullopt);
      fields.add(cell.interval ? std::optional(cell.interval->second) : std::nullopt);
    }
  }
  return fields.end();
}

} // namespace

std::string print_csv(const Document& document, const Look& /*look*/) {
  std::string text, last_heading;
  for (const Section& section : document.sections)
    for (const Block& block : section.blocks) {
      const auto* findings = std::get_if<Findings>(&block);
      const std::optional<Table> findings_table =
          findings != nullptr ? std::optional(table_of(*findings)) : std::nullopt;
      const Table* const table = findings_table ? &*findings_table : std::get_if<Table>(&block);
      if (table == nullptr || !is_for(block, Audience::programs))
        continue;
      const std::vector<std::size_t> columns = columns_without_bars(*table, Audience::programs);
      std::string heading = heading_of(*table, columns);
      if (heading != last_heading)
        text += (text.empty() ? "" : "\r\n") + heading;
      last_heading = std::move(heading);
      for (const Row* row : rows_for(*table, Audience::programs))
        text += row_of(*table, columns, *row);
    }
  return text;
}

} // namespace warplens::document
