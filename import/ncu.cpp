// Reads the pages `raw` and `details` of Nsight Compute.
#include "import/kernel_counters.h"
#include "import/table.h"

#include <algorithm>
#include <span>

namespace warplens::import {
namespace {

/// A heading and the rows below it.
using Table = std::span<const CsvRow>;

bool is_metric(std::string_view name) {
  return name.find("__") != std::string_view::npos;
}

Expected<void> check_widths(Table table) {
  for (const CsvRow& row : table)
    if (row.fields.size() != table[0].fields.size())
      return fail("line {}: {} columns, and the heading has {}", row.line, row.fields.size(),
                  table[0].fields.size());
  return {};
}

/// Returns the value of a field; none if it has none. A number that the reader would misunderstand is an
/// error.
Expected<std::optional<double>> value_in(const CsvRow& row, std::size_t column) {
  const std::string& text = row.fields[column];
  if (has_decimal_comma(text))
    return fail("line {}: '{}' has a decimal comma, which looks like one that separates thousands: "
                "print the table with LC_ALL=C",
                row.line, text);
  return printed_number(text);
}

/// The columns that say which launch a row belongs to.
struct LaunchColumns {
  std::size_t kernel = 0;
  std::optional<std::size_t> device, grid, block;
};

Expected<LaunchColumns> launch_columns(const CsvRow& heading) {
  TRY_LET(kernel, column(heading, kernel_name_heading));
  return LaunchColumns{*kernel, find_column(heading, "Device"), find_column(heading, "Grid Size"),
                       find_column(heading, "Block Size")};
}

KernelCounters launch_of(const CsvRow& row, const LaunchColumns& columns) {
  KernelCounters launch;
  launch.kernel = row.fields[columns.kernel];
  if (columns.device)
    launch.device = row.fields[*columns.device];
  if (columns.grid)
    launch.grid = printed_extents(row.fields[*columns.grid]);
  if (columns.block)
    launch.block = printed_extents(row.fields[*columns.block]);
  return launch;
}

Expected<void> read_raw(Table rows, const NcuOptions& options, std::vector<KernelCounters>& launches) {
  const CsvRow& heading = rows[0];
  TRY_LET(columns, launch_columns(heading));
  const bool has_units = rows[1].fields[columns->kernel].empty(); // the row of units names no kernel
  if (!has_units && !options.base_units)
    return fail(
        "line {}: the row of units is missing, so nothing says whether a time is in ms or ns: collect with "
        "--print-units base, and say --units base here",
        rows[1].line);
  if (has_units && rows.size() == 2)
    return fail("line {}: a row of units, and no kernel after it", rows[1].line);
  for (std::size_t i = has_units ? 2 : 1; i < rows.size(); ++i) {
    KernelCounters launch = launch_of(rows[i], *columns);
    if (launch.kernel.empty())
      return fail("line {}: no kernel is named", rows[i].line);
    for (std::size_t j = 0; j < heading.fields.size(); ++j) {
      if (!is_metric(heading.fields[j]))
        continue;
      TRY_LET(value, value_in(rows[i], j));
      if (*value)
        launch.counters[heading.fields[j]] =
            **value * (has_units ? unit_scale(rows[1].fields[j]) : base_scale(heading.fields[j]));
    }
    launches.push_back(std::move(launch));
  }
  return {};
}

Expected<void> read_details(Table rows, std::vector<KernelCounters>& launches) {
  const CsvRow& heading = rows[0];
  TRY_LET(id, column(heading, "ID"));
  TRY_LET(columns, launch_columns(heading));
  TRY_LET(name, column(heading, "Metric Name"));
  TRY_LET(unit, column(heading, "Metric Unit"));
  TRY_LET(value, column(heading, "Metric Value"));
  const auto process = find_column(heading, "Process ID");
  std::map<std::pair<std::string, std::string>, std::size_t> places; // by ID and process
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& fields = rows[i].fields;
    const auto [place, is_new] =
        places.emplace(std::pair(fields[*id], process ? fields[*process] : ""), launches.size());
    if (is_new)
      launches.push_back(launch_of(rows[i], *columns));
    TRY_LET(number, value_in(rows[i], *value));
    if (*number && !fields[*name].empty()) // a row of a rule's advice names no metric
      launches[place->second].counters[std::string(metric_of_label(fields[*name]))] =
          **number * unit_scale(fields[*unit]);
  }
  return {};
}

/// Returns the tables of a file, each with its heading: a file that several runs were appended to has
/// several.
std::vector<Table> tables_in(const std::vector<CsvRow>& rows) {
  std::vector<std::size_t> headings;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (find_column(rows[i], kernel_name_heading))
      headings.push_back(i);
  std::vector<Table> tables;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const std::size_t end = i + 1 < headings.size() ? headings[i + 1] : rows.size();
    tables.push_back(Table(rows).subspan(headings[i], end - headings[i]));
  }
  return tables;
}

} // namespace

Expected<std::vector<KernelCounters>> read_ncu(std::string_view text, const NcuOptions& options) {
  TRY_LET(rows, rows_from(text, kernel_name_heading));
  std::vector<KernelCounters> launches;
  for (const Table table : tables_in(*rows)) {
    TRY(check_widths(table));
    if (table.size() == 1)
      continue;
    const bool is_details = find_column(table[0], "Metric Name").has_value();
    TRY(is_details ? read_details(table, launches) : read_raw(table, options, launches));
  }
  if (launches.empty())
    return fail("a heading, and nothing after it");
  return launches;
}

} // namespace warplens::import
