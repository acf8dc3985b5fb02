#include "significance/from_measurements.h"

#include "support/display_name.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warplens::significance {
namespace {

void add_targets(RegionBuilder& builder, const std::map<std::string, double>& counters, double launches) {
  const auto find = [&](const char* name) {
    const auto found = counters.find(name);
    return found == counters.end() ? missing : found->second;
  };
  const auto first_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const double value = find(name); std::isfinite(value))
        return value;
    return missing;
  };
  if (const double seconds = find(measured_duration); std::isfinite(seconds))
    builder.set_target("time", seconds * launches);
  if (const double cycles =
          first_of({"gpc__cycles_elapsed.max", "sm__cycles_elapsed.max", "elapsed_cycles_sm"});
      std::isfinite(cycles))
    builder.set_target(elapsed_cycles, cycles * launches);
  const double active = first_of({"sm__cycles_active.avg", "active_cycles"}),
               elapsed = first_of({"sm__cycles_elapsed.avg", "elapsed_cycles_sm"});
  if (elapsed > 0 && std::isfinite(active))
    builder.set_target("ul", std::min(active / elapsed, 1.0));
  else if (const double percent = find("sm_efficiency"); std::isfinite(percent))
    builder.set_target("ul", std::min(percent / 100, 1.0));
}

bool has_several_devices(const std::vector<MeasuredRun>& runs) {
  std::set<std::string> devices;
  for (const MeasuredRun& run : runs)
    for (const auto& kernel : run.kernels)
      devices.insert(kernel.device);
  return devices.size() > 1;
}

/// Returns the mean of the measured entries of a kernel in runs of this configuration; none: there is none.
std::optional<import::KernelCounters> find_measured(const std::vector<MeasuredRun>& measured,
                                                    const Parameters& parameters, const std::string& kernel) {
  std::vector<import::KernelCounters> found;
  for (const MeasuredRun& run : measured)
    if (same_configuration(run.parameters, parameters))
      for (const auto& one : run.kernels)
        if (import::base_name(one.kernel) == kernel) {
          found.push_back(one);
          found.back().kernel = kernel;
          found.back().device.clear();
        }
  return found.empty() ? std::nullopt : std::optional(import::mean_of_launches(found).front());
}

} // namespace

RunSet run_set_of(const std::vector<MeasuredRun>& runs) {
  const bool several_devices = has_several_devices(runs);
  RunSet set;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const MeasuredRun& run : runs)
    for (const auto& kernel : run.kernels)
      if (places.emplace(std::pair(kernel.kernel, kernel.device), set.regions.size()).second) {
        Region region;
        region.kernel = kernel.kernel;
        const bool is_number = kernel.device.find_first_not_of("0123456789") == std::string::npos;
        region.gpu = is_number && !kernel.device.empty() ? "device " + kernel.device : kernel.device;
        region.name = display_name(kernel.kernel) + (several_devices ? " on " + region.gpu : "");
        set.regions.push_back(std::move(region));
      }
  for (const auto& [key, place] : places) {
    Region& region = set.regions[place];
    RegionBuilder builder(region);
    for (const MeasuredRun& run : runs)
      for (const auto& kernel : run.kernels)
        if (kernel.kernel == key.first && kernel.device == key.second) {
          builder.begin_run(run.parameters);
          for (const auto& [name, value] : kernel.counters)
            builder.add(name, "", std::nullopt, value);
          add_targets(builder, kernel.counters, 1);
        }
    average_repeats(region);
  }
  return set;
}

RunSet run_set_of(const import::DashingTable& table) {
  RunSet set;
  for (std::size_t index = 0; index < table.regions.size(); ++index) {
    Region region;
    region.name = region.kernel = table.regions[index];
    std::size_t runs = 0;
    for (const auto& row : table.rows)
      runs = std::max(runs, row.values[index].size());
    for (std::size_t run = 0; run < runs; ++run)
      region.runs.push_back({{"run", std::to_string(run)}});
    std::set<std::string_view> seen;
    for (const auto& row : table.rows) {
      std::vector<double> values = row.values[index];
      values.resize(runs, missing);
      if (row.counter == "Runtime")
        region.targets["time"] = std::move(values);
      else if (seen.insert(row.counter).second)
        region.counters.push_back({row.counter, "", std::nullopt, std::move(values)});
    }
    set.regions.push_back(std::move(region));
  }
  return set;
}

RunSet run_set_of(const import::RunTable& table, const std::string& name) {
  RunSet set;
  Region& region = set.regions.emplace_back();
  region.name = region.kernel = name;
  RegionBuilder builder(region);
  for (const import::RunTable::Run& run : table.runs) {
    Parameters parameters;
    for (std::size_t i = 0; i < table.parameters.size(); ++i)
      parameters.emplace_back(table.parameters[i], run.parameters[i]);
    builder.begin_run(std::move(parameters));
    for (std::size_t j = 0; j < table.counters.size(); ++j)
      builder.add(table.counters[j], "", std::nullopt, run.counters[j]);
    builder.set_target(table_target, run.target);
  }
  average_repeats(region);
  return set;
}

Expected<import::DashingTable> dashing_table_of(const RunSet& runs, const TargetOptions& options) {
  import::DashingTable table;
  std::map<std::string, std::size_t> rows;
  const std::size_t regions = runs.regions.size();
  const auto row_of = [&](const std::string& counter) -> import::DashingTable::Row& {
    const auto [row, is_new] = rows.emplace(counter, table.rows.size());
    if (is_new)
      table.rows.push_back({counter, std::vector<std::vector<double>>(regions)});
    return table.rows[row->second];
  };
  for (std::size_t index = 0; index < regions; ++index) {
    const Region& region = runs.regions[index];
    TRY_LET(target, target_of(region, options));
    table.regions.push_back(region.name);
    for (const Counter& counter : region.counters)
      row_of(counter.name).values[index] = counter.values;
    row_of("Runtime").values[index] = target->values;
  }
  return table;
}

void add_measurements(RunSet& profiles, const std::vector<MeasuredRun>& measured) {
  for (Region& region : profiles.regions) {
    const std::string kernel = import::base_name(display_name(region.kernel));
    std::vector<std::optional<import::KernelCounters>> found;
    std::set<std::string> names;
    for (const Parameters& run : region.runs) {
      found.push_back(find_measured(measured, run, kernel));
      if (found.back())
        for (const auto& [name, value] : found.back()->counters)
          names.insert(name);
    }
    const auto without = static_cast<std::size_t>(
        std::ranges::count_if(found, [](const auto& one) { return !one.has_value(); }));
    if (without > 0)
      profiles.notes.push_back(
          fmt::format("{}: {} of {} runs were not measured", region.name, without, found.size()));
    std::map<std::string, std::vector<double>> targets;
    for (std::size_t run = 0; run < found.size(); ++run) {
      Region one; // of this run alone, for its targets
      RegionBuilder builder(one);
      builder.begin_run({});
      if (found[run])
        add_targets(builder, found[run]->counters, region.launches.empty() ? 1 : region.launches[run]);
      for (const auto& [target, values] : one.targets) {
        targets[target].resize(found.size(), missing);
        targets[target][run] = values[0];
      }
    }
    for (auto& [target, values] : targets)
      region.targets[target] = std::move(values);
    for (const std::string& name : names) {
      Counter counter{name, "", std::nullopt, std::vector<double>(found.size(), missing)};
      for (std::size_t run = 0; run < found.size(); ++run)
        if (found[run] && found[run]->counters.contains(name))
          counter.values[run] =
              found[run]->counters.at(name) * (region.launches.empty() ? 1 : region.launches[run]);
      region.counters.push_back(std::move(counter));
    }
  }
}

} // namespace warplens::significance
