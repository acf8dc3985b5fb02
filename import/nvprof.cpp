// Reads the tables of nvprof.
#include "import/kernel_counters.h"
#include "import/table.h"

#include <algorithm>

namespace warplens::import {
namespace {

/// The columns of a table of events or metrics.
struct Columns {
  std::size_t device, kernel, invocations, name, average;
};

bool is_heading(const CsvRow& row) {
  return find_column(row, "Kernel") && (find_column(row, "Event Name") || find_column(row, "Metric Name"));
}

Expected<Columns> columns_of(const CsvRow& heading) {
  TRY_LET(device, column(heading, "Device"));
  TRY_LET(kernel, column(heading, "Kernel"));
  TRY_LET(invocations, column(heading, "Invocations"));
  TRY_LET(average, column(heading, "Avg"));
  const auto event = find_column(heading, "Event Name");
  TRY_LET(name, event ? Expected<std::size_t>(*event) : column(heading, "Metric Name"));
  return Columns{*device, *kernel, *invocations, *name, *average};
}

} // namespace

Expected<std::vector<KernelCounters>> read_nvprof(std::string_view text) {
  TRY_LET(rows, rows_from(text, "Invocations"));
  std::vector<KernelCounters> kernels;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  const CsvRow* heading = nullptr;
  Columns columns{};
  for (const CsvRow& row : *rows) {
    if (is_heading(row)) { // events and metrics have a table each
      TRY_LET(found, columns_of(row));
      columns = *found;
      heading = &row;
      continue;
    }
    if (heading == nullptr)
      return fail("line {}: no heading with \"Kernel\" and \"Event Name\" or \"Metric Name\"", row.line);
    if (row.fields.size() != heading->fields.size())
      return fail("line {}: {} columns, and the heading has {}", row.line, row.fields.size(),
                  heading->fields.size());
    const auto& fields = row.fields;
    const auto [place, is_new] =
        places.emplace(std::pair(fields[columns.kernel], fields[columns.device]), kernels.size());
    if (is_new)
      kernels.push_back({fields[columns.kernel], fields[columns.device], 1, {}});
    KernelCounters& kernel = kernels[place->second];
    const auto invocations = printed_number(fields[columns.invocations]);
    if (!invocations || *invocations < 1 || *invocations > 1e15)
      return fail("line {}: '{}' is no number of invocations", row.line, fields[columns.invocations]);
    kernel.launches = std::max(kernel.launches, static_cast<std::uint64_t>(*invocations));
    // A rate or a share has its unit behind it ("2.5GB/s", "40.0%"), and is no counter.
    if (const auto value = printed_number(fields[columns.average]))
      kernel.counters[fields[columns.name]] = *value;
  }
  if (kernels.empty())
    return fail("a heading, and no kernel after it");
  return kernels;
}

} // namespace warplens::import
