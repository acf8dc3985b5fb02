// Reads the tables of Nsight Compute.
#include "import/kernel_counters.h"
#include "import/table.h"

namespace warplens::import {
namespace {

constexpr std::string_view kernel_name = "Kernel Name";

bool is_metric(std::string_view name) {
  return name.find("__") != std::string_view::npos;
}

Expected<void> check_widths(const std::vector<CsvRow>& rows) {
  for (const CsvRow& row : rows)
    if (row.fields.size() != rows[0].fields.size())
      return fail("line {}: {} columns, and the heading has {}", row.line, row.fields.size(),
                  rows[0].fields.size());
  return {};
}

/// Returns the factor of a column without a unit, in a table in base units: ncu's base unit of time is the
/// nanosecond.
double base_scale(std::string_view metric) {
  return metric.starts_with("gpu__time") ? 1e-9 : 1;
}

Expected<std::vector<KernelCounters>> read_raw(const std::vector<CsvRow>& rows, const NcuOptions& options) {
  const CsvRow& heading = rows[0];
  TRY_LET(kernel, column(heading, kernel_name));
  const auto device = find_column(heading, "Device");
  const bool has_units = rows[1].fields[*kernel].empty(); // the row of units names no kernel
  if (!has_units && !options.base_units)
    return fail(
        "line {}: the row of units is missing, so nothing says whether a time is in ms or ns: collect with "
        "--print-units base, and say --units base here",
        rows[1].line);
  std::vector<KernelCounters> launches;
  for (std::size_t i = has_units ? 2 : 1; i < rows.size(); ++i) {
    KernelCounters launch;
    launch.kernel = rows[i].fields[*kernel];
    launch.device = device ? rows[i].fields[*device] : "";
    if (launch.kernel.empty())
      return fail("line {}: no kernel is named", rows[i].line);
    for (std::size_t j = 0; j < heading.fields.size(); ++j) {
      const auto value = is_metric(heading.fields[j]) ? printed_number(rows[i].fields[j]) : std::nullopt;
      if (value)
        launch.counters[heading.fields[j]] =
            *value * (has_units ? unit_scale(rows[1].fields[j]) : base_scale(heading.fields[j]));
    }
    launches.push_back(std::move(launch));
  }
  if (launches.empty())
    return fail("line {}: a row of units, and no kernel after it", rows[1].line);
  return launches;
}

Expected<std::vector<KernelCounters>> read_details(const std::vector<CsvRow>& rows) {
  const CsvRow& heading = rows[0];
  TRY_LET(id, column(heading, "ID"));
  TRY_LET(kernel, column(heading, kernel_name));
  TRY_LET(name, column(heading, "Metric Name"));
  TRY_LET(unit, column(heading, "Metric Unit"));
  TRY_LET(value, column(heading, "Metric Value"));
  const auto device = find_column(heading, "Device");
  std::vector<KernelCounters> launches;
  std::map<std::string, std::size_t> places; // by ID
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& fields = rows[i].fields;
    const auto [place, is_new] = places.emplace(fields[*id], launches.size());
    if (is_new)
      launches.push_back({fields[*kernel], device ? fields[*device] : "", 1, {}});
    if (const auto number = printed_number(fields[*value]))
      launches[place->second].counters[fields[*name]] = *number * unit_scale(fields[*unit]);
  }
  return launches;
}

} // namespace

Expected<std::vector<KernelCounters>> read_ncu(std::string_view text, const NcuOptions& options) {
  TRY_LET(rows, rows_from(text, kernel_name));
  if (rows->size() < 2)
    return fail("a heading, and nothing after it");
  TRY(check_widths(*rows));
  return find_column(rows->front(), "Metric Name") ? read_details(*rows) : read_raw(*rows, options);
}

} // namespace warplens::import
