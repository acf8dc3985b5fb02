#include "import/dashing.h"

#include "import/kernel_counters.h"
#include "support/csv.h"

#include <cmath>
#include <limits>

namespace warplens::import {
namespace {

/// Returns the values of a cell: "1, 2,,4"; an empty cell has none.
std::vector<double> values_in(std::string_view cell) {
  std::vector<double> values;
  if (cell.empty())
    return values;
  for (std::size_t at = 0; at <= cell.size();) {
    const std::size_t end = std::min(cell.find(',', at), cell.size());
    values.push_back(
        printed_number(cell.substr(at, end - at)).value_or(std::numeric_limits<double>::quiet_NaN()));
    at = end + 1;
  }
  return values;
}

} // namespace

Expected<DashingTable> read_dashing(std::string_view text) {
  TRY_LET(rows, parse_csv(text));
  if (rows->empty() || rows->front().fields.size() < 2)
    return fail("line 1: no regions");
  DashingTable table;
  const auto& heading = rows->front().fields;
  table.regions.assign(heading.begin() + 1, heading.end());
  std::vector<std::size_t> runs(table.regions.size(), 0);
  for (std::size_t i = 1; i < rows->size(); ++i) {
    const CsvRow& row = (*rows)[i];
    if (row.fields.size() != heading.size())
      return fail("line {}: {} columns, and the first line has {}", row.line, row.fields.size(),
                  heading.size());
    DashingTable::Row counter{row.fields[0], {}};
    for (std::size_t region = 0; region < table.regions.size(); ++region) {
      counter.values.push_back(values_in(row.fields[region + 1]));
      const std::size_t count = counter.values.back().size();
      if (runs[region] == 0)
        runs[region] = count;
      if (count != 0 && count != runs[region])
        return fail("line {}: {} has {} values in region {}, and {} in the rows before", row.line,
                    counter.counter, count, table.regions[region], runs[region]);
    }
    table.rows.push_back(std::move(counter));
  }
  if (table.rows.empty())
    return fail("line 1: regions, and no counter after them");
  return table;
}

std::string write_dashing(const DashingTable& table) {
  std::string text;
  for (const std::string& region : table.regions)
    text += "," + csv_field(region);
  text += "\n";
  for (const DashingTable::Row& row : table.rows) {
    text += csv_field(row.counter);
    for (const auto& values : row.values) {
      std::string cell;
      for (std::size_t run = 0; run < values.size(); ++run)
        cell += (run == 0 ? "" : ",") + (std::isfinite(values[run]) ? fmt::format("{}", values[run]) : "");
      text += "," + csv_field(cell);
    }
    text += "\n";
  }
  return text;
}

} // namespace warplens::import
