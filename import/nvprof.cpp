// Reads the tables of nvprof: summaries of events and metrics, and with --print-gpu-trace a row per launch.
#include "import/kernel_counters.h"
#include "import/table.h"

#include <algorithm>
#include <memory>

namespace warplens::import {
namespace {

/// The names by nvprof of ncu's metrics; only the trace's columns, which are no events or metrics.
constexpr std::pair<std::string_view, std::string_view> trace_columns[] = {
    {"Duration", "gpu__time_duration.sum"}, {"Registers Per Thread", "launch__registers_per_thread"}};

/// Returns the value of an event or metric. A percentage has its sign behind it ("40.0%"); a rate has its
/// unit there ("2.5GB/s"), and is no counter.
std::optional<double> value_of(std::string_view text) {
  if (text.ends_with('%'))
    text.remove_suffix(1);
  return printed_number(text);
}

/// Returns the kernel's name without the number that nvprof puts behind it in a trace: "VecAdd(int) [100]".
std::string name_in_trace(std::string_view name) {
  const std::size_t at = name.rfind(" [");
  if (at != std::string_view::npos && name.ends_with(']') &&
      name.substr(at + 2, name.size() - at - 3).find_first_not_of("0123456789") == std::string_view::npos)
    name = name.substr(0, at);
  return std::string(name);
}

/// A table of which the next row is to be read.
class TableReader {
public:
  virtual ~TableReader() = default;
  virtual Expected<void> add(const CsvRow& row, std::vector<KernelCounters>& kernels) = 0;
};

/// A row per kernel and event or metric.
class SummaryReader : public TableReader {
public:
  static Expected<std::unique_ptr<TableReader>> begin(const CsvRow& heading) {
    auto reader = std::make_unique<SummaryReader>();
    TRY_LET(device, column(heading, "Device"));
    TRY_LET(kernel, column(heading, "Kernel"));
    TRY_LET(invocations, column(heading, "Invocations"));
    TRY_LET(average, column(heading, "Avg"));
    const auto event = find_column(heading, "Event Name");
    TRY_LET(name, event ? Expected<std::size_t>(*event) : column(heading, "Metric Name"));
    reader->device_ = *device;
    reader->kernel_ = *kernel;
    reader->invocations_ = *invocations;
    reader->average_ = *average;
    reader->name_ = *name;
    return reader;
  }

  Expected<void> add(const CsvRow& row, std::vector<KernelCounters>& kernels) override {
    const std::string& name = row.fields[kernel_];
    const std::string& device = row.fields[device_];
    const auto invocations = printed_number(row.fields[invocations_]);
    if (!invocations || *invocations < 1 || *invocations > 1e15)
      return fail("line {}: '{}' is no number of invocations", row.line, row.fields[invocations_]);
    auto kernel = std::ranges::find_if(kernels, [&](const KernelCounters& one) {
      return one.kernel == name && one.device == device && !one.grid;
    });
    if (kernel == kernels.end()) {
      kernels.push_back({name, device, 1, {}, {}, {}, {}, {}});
      kernel = kernels.end() - 1;
    }
    kernel->launches = std::max(kernel->launches, static_cast<std::uint64_t>(*invocations));
    if (const auto value = value_of(row.fields[average_]))
      kernel->counters[row.fields[name_]] = *value;
    return {};
  }

private:
  std::size_t device_ = 0, kernel_ = 0, invocations_ = 0, name_ = 0, average_ = 0;
};

/// A row per launch, with its times and its grid; rows of copies have no grid.
class TraceReader : public TableReader {
public:
  static Expected<std::unique_ptr<TableReader>> begin(const CsvRow& heading) {
    auto reader = std::make_unique<TraceReader>();
    reader->heading_ = heading;
    TRY_LET(name, column(heading, "Name"));
    reader->name_ = *name;
    for (std::size_t i = 0; i < 3; ++i) {
      TRY_LET(grid, column(heading, fmt::format("Grid {}", "XYZ"[i])));
      TRY_LET(block, column(heading, fmt::format("Block {}", "XYZ"[i])));
      reader->grid_[i] = *grid;
      reader->block_[i] = *block;
    }
    reader->device_ = find_column(heading, "Device");
    return reader;
  }

  Expected<void> add(const CsvRow& row, std::vector<KernelCounters>& kernels) override {
    if (units_.empty()) {
      units_ = row.fields;
      if (row.fields[name_].empty())
        return {};
      return fail("line {}: the row of units is missing, so nothing says whether a time is in ms or us",
                  row.line);
    }
    const auto grid = extents(row, grid_), block = extents(row, block_);
    if (!grid || !block) // a copy or a fill
      return {};
    KernelCounters launch;
    launch.kernel = name_in_trace(row.fields[name_]);
    launch.device = device_ ? row.fields[*device_] : "";
    launch.grid = grid;
    launch.block = block;
    for (const auto& [heading, metric] : trace_columns) {
      const auto place = find_column(heading_, heading);
      const auto value = place ? printed_number(row.fields[*place]) : std::nullopt;
      if (value)
        launch.counters[std::string(metric)] = *value * unit_scale(units_[*place]);
    }
    kernels.push_back(std::move(launch));
    return {};
  }

private:
  static std::optional<Extents> extents(const CsvRow& row, const std::array<std::size_t, 3>& columns) {
    return printed_extents(
        fmt::format("{} {} {}", row.fields[columns[0]], row.fields[columns[1]], row.fields[columns[2]]));
  }

  CsvRow heading_;
  std::vector<std::string> units_;
  std::size_t name_ = 0;
  std::array<std::size_t, 3> grid_{}, block_{};
  std::optional<std::size_t> device_;
};

/// A row per launch, with a column per event or metric.
class LaunchCountersReader : public TableReader {
public:
  static Expected<std::unique_ptr<TableReader>> begin(const CsvRow& heading) {
    auto reader = std::make_unique<LaunchCountersReader>();
    reader->heading_ = heading;
    TRY_LET(kernel, column(heading, "Kernel"));
    reader->kernel_ = *kernel;
    reader->device_ = find_column(heading, "Device");
    return reader;
  }

  Expected<void> add(const CsvRow& row, std::vector<KernelCounters>& kernels) override {
    if (row.fields[kernel_].empty()) // units
      return {};
    KernelCounters launch;
    launch.kernel = name_in_trace(row.fields[kernel_]);
    launch.device = device_ ? row.fields[*device_] : "";
    for (std::size_t i = 0; i < row.fields.size(); ++i)
      if (!is_launch_column(heading_.fields[i]))
        if (const auto value = value_of(row.fields[i]))
          launch.counters[heading_.fields[i]] = *value;
    kernels.push_back(std::move(launch));
    return {};
  }

private:
  static bool is_launch_column(std::string_view name) {
    constexpr std::string_view names[] = {"Device", "Context", "Stream", "Kernel", "Correlation_ID"};
    return std::ranges::find(names, name) != std::end(names);
  }

  CsvRow heading_;
  std::size_t kernel_ = 0;
  std::optional<std::size_t> device_;
};

/// Returns the reader of the table that the row begins; null if it begins none.
Expected<std::unique_ptr<TableReader>> begin_table(const CsvRow& row) {
  if (find_column(row, "Kernel") && (find_column(row, "Event Name") || find_column(row, "Metric Name")))
    return SummaryReader::begin(row);
  if (find_column(row, "Grid X") && find_column(row, "Duration"))
    return TraceReader::begin(row);
  if (find_column(row, "Kernel") && find_column(row, "Stream"))
    return LaunchCountersReader::begin(row);
  return std::unique_ptr<TableReader>();
}

/// Returns the column that the first heading of the text has.
std::string_view column_of_heading(std::string_view text) {
  for (const std::string_view name : {"\"Invocations\"", "\"Grid X\"", "\"Stream\""})
    if (text.find(name) != std::string_view::npos)
      return name;
  return "Invocations";
}

} // namespace

Expected<std::vector<KernelCounters>> read_nvprof(std::string_view text) {
  TRY_LET(rows, rows_from(text, column_of_heading(text)));
  std::vector<KernelCounters> kernels;
  const CsvRow* heading = nullptr;
  std::unique_ptr<TableReader> reader;
  for (const CsvRow& row : *rows) {
    TRY_LET(begun, begin_table(row)); // events and metrics have a table each
    if (*begun) {
      reader = std::move(*begun);
      heading = &row;
      continue;
    }
    if (heading == nullptr)
      return fail("line {}: no heading with \"Kernel\" and \"Event Name\" or \"Metric Name\"", row.line);
    if (row.fields.size() != heading->fields.size())
      return fail("line {}: {} columns, and the heading has {}", row.line, row.fields.size(),
                  heading->fields.size());
    TRY(reader->add(row, kernels));
  }
  if (kernels.empty())
    return fail("a heading, and no kernel after it");
  return kernels;
}

} // namespace warplens::import
