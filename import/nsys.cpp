// Reads what Nsight Systems exports as a database of SQLite: each launch with its time, of which each
// kernel's median is kept. NVIDIA describes the tables under "SQLite Export Schema Reference"; versions
// differ in the columns that they have beyond those that are read here.
#include "import/database.h"
#include "import/kernel_counters.h"

#include <algorithm>
#include <limits>

namespace warplens::import {
namespace {

constexpr const char* kernel_table = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr double seconds_per_nanosecond = 1e-9;

/// The columns of a launch, in the order of the query.
enum Column : int { start, end, name, device, grid_x, block_x = grid_x + 3, registers = block_x + 3 };

/// The properties that launches with one median share.
struct LaunchKey {
  std::int64_t name = 0, device = 0;
  Extents grid{}, block{};

  auto operator<=>(const LaunchKey&) const = default;
};

/// The launches of a kernel with one grid and block on one device, in the order in which they were made.
struct Launches {
  std::size_t first = 0; ///< number of the first among all launches
  std::optional<std::int64_t> registers;
  std::vector<std::int64_t> nanoseconds;
};

using LaunchGroups = std::map<LaunchKey, Launches>;

/// Returns the texts by their numbers. Those of a damaged database may lie on each other, so that there seem
/// to be more than the file holds.
Expected<std::map<std::int64_t, std::string>> texts_of(Database& database, const char* query) {
  std::map<std::int64_t, std::string> texts;
  constexpr std::size_t growth = 2; // at most, from UTF-16 to UTF-8
  std::size_t size = 0;
  TRY(database.for_each_row(query, [&](const DatabaseRow& row) -> Expected<void> {
    const auto number = row.integer(0);
    auto text = row.text(1);
    size += text ? text->size() : 0;
    if (size > growth * database.size())
      return fail("the database is damaged: it has more text than its size allows");
    if (number && text)
      texts.insert_or_assign(*number, std::move(*text));
    return {};
  }));
  return texts;
}

Expected<Extents> extents_in(const DatabaseRow& row, int column, std::size_t launch) {
  Extents extents{};
  for (int i = 0; i < 3; ++i) {
    const auto value = row.integer(column + i);
    if (!value || *value < 1 || *value > std::numeric_limits<std::uint32_t>::max())
      return fail("launch {}: its grid or block is no number from 1 on", launch);
    extents[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(*value);
  }
  return extents;
}

Expected<void> add_launch(const DatabaseRow& row, std::size_t number, LaunchGroups& groups) {
  const auto from = row.integer(start), to = row.integer(end), kernel = row.integer(name);
  if (!from || !to || *from < 0 || *to < *from)
    return fail("launch {}: its times are no nanoseconds, or it ends before it starts", number);
  if (!kernel)
    return fail("launch {}: no kernel is named", number);
  TRY_LET(grid, extents_in(row, grid_x, number));
  TRY_LET(block, extents_in(row, block_x, number));
  Launches& launches = groups[{*kernel, row.integer(device).value_or(0), *grid, *block}];
  if (launches.nanoseconds.empty()) {
    launches.first = number;
    launches.registers = row.integer(registers);
  }
  launches.nanoseconds.push_back(*to - *from);
  return {};
}

Expected<LaunchGroups> launches_in(Database& database) {
  for (const char* column : {"start", "end", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"})
    if (!database.has_column(kernel_table, column))
      return fail(
          "the database has no table {} with a column {}: trace with `nsys profile --trace cuda`, and "
          "export with `nsys export --type sqlite`",
          kernel_table, column);
  const auto first_of = [&](std::initializer_list<const char*> columns) {
    for (const char* column : columns)
      if (database.has_column(kernel_table, column))
        return column;
    return "NULL";
  };
  LaunchGroups groups;
  std::size_t number = 0;
  TRY(database.for_each_row(fmt::format("SELECT start, \"end\", {}, {}, gridX, gridY, gridZ, blockX, blockY, "
                                        "blockZ, {} FROM {} ORDER BY start",
                                        first_of({"demangledName", "shortName", "name"}),
                                        first_of({"deviceId"}), first_of({"registersPerThread"}),
                                        kernel_table),
                            [&](const DatabaseRow& row) { return add_launch(row, ++number, groups); }));
  return groups;
}

/// Returns the names of the devices by their numbers in launches; none in a version without them.
Expected<std::map<std::int64_t, std::string>> devices_of(Database& database) {
  const char* const gpus = "TARGET_INFO_GPU";
  const char* const devices = "TARGET_INFO_CUDA_DEVICE";
  if (!database.has_column(gpus, "id") || !database.has_column(gpus, "name"))
    return std::map<std::int64_t, std::string>();
  if (database.has_column(devices, "cudaId") && database.has_column(devices, "gpuId"))
    return texts_of(database, "SELECT device.cudaId, gpu.name FROM TARGET_INFO_CUDA_DEVICE AS device JOIN "
                              "TARGET_INFO_GPU AS gpu ON gpu.id = device.gpuId");
  return texts_of(database, "SELECT id, name FROM TARGET_INFO_GPU");
}

KernelCounters counters_of(const LaunchKey& key, Launches& launches) {
  KernelCounters counters;
  counters.launches = launches.nanoseconds.size();
  counters.combined = Combined::median;
  counters.grid = key.grid;
  counters.block = key.block;
  std::ranges::sort(launches.nanoseconds);
  const auto seconds = [&](std::size_t rank) {
    return static_cast<double>(launches.nanoseconds[rank]) * seconds_per_nanosecond;
  };
  const std::size_t upper = launches.nanoseconds.size() / 2, lower = (launches.nanoseconds.size() - 1) / 2;
  counters.counters["gpu__time_duration.sum"] = (seconds(lower) + seconds(upper)) / 2;
  counters.range = TimeRange{seconds(0), seconds(launches.nanoseconds.size() - 1)};
  if (launches.registers)
    counters.counters["launch__registers_per_thread"] = static_cast<double>(*launches.registers);
  return counters;
}

} // namespace

Expected<std::vector<KernelCounters>> read_nsys(std::string_view bytes) {
  TRY_LET(database, Database::open(bytes));
  TRY_LET(groups, launches_in(*database));
  if (groups->empty())
    return fail("the table {} has no launch", kernel_table);
  if (!database->has_column("StringIds", "id") || !database->has_column("StringIds", "value"))
    return fail("the database has no table StringIds with the columns id and value");
  TRY_LET(names, texts_of(*database, "SELECT id, value FROM StringIds"));
  TRY_LET(devices, devices_of(*database));
  std::map<std::size_t, KernelCounters> in_order; // by the first launch
  for (auto& [key, launches] : *groups) {
    const auto found = names->find(key.name);
    if (found == names->end() || found->second.empty())
      return fail("launch {}: StringIds has no name {}", launches.first, key.name);
    KernelCounters& kernel = in_order[launches.first] = counters_of(key, launches);
    kernel.kernel = found->second;
    const auto known = devices->find(key.device);
    kernel.device = known == devices->end() ? fmt::format("{}", key.device) : known->second;
  }
  std::vector<KernelCounters> kernels;
  for (auto& [first, kernel] : in_order)
    kernels.push_back(std::move(kernel));
  return kernels;
}

} // namespace warplens::import
