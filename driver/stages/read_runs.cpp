#include "driver/stages/read_runs.h"

#include "driver/stages/configurations.h"
#include "driver/stages/read_measured.h"
#include "driver/stages/read_result.h"
#include "driver/stages/sweep_folder.h"
#include "significance/from_measurements.h"
#include "support/files.h"

#include <filesystem>

namespace warplens::driver {
namespace {

using namespace significance;

Expected<Parameters> parameters_of(const std::string& file, const RunSources& sources) {
  if (!sources.key.empty())
    return parameters_in(file, sources.key);
  return Parameters{{"file", std::filesystem::path(file).filename().string()}};
}

/// Adds the launches as runs of their own, numbered per kernel.
void add_launches(const Parameters& parameters, const std::vector<import::KernelCounters>& launches,
                  std::vector<MeasuredRun>& runs) {
  std::map<std::string, std::size_t> seen;
  for (const auto& launch : launches) {
    runs.push_back({parameters, {launch}});
    runs.back().parameters.emplace_back("launch", std::to_string(seen[launch.kernel]++));
  }
}

/// Checks that no launch took a negative time.
Expected<void> check_durations(const std::string& file, const std::vector<import::KernelCounters>& launches) {
  for (const auto& launch : launches) {
    const auto duration = launch.counters.find(measured_duration);
    if (duration != launch.counters.end() && duration->second < 0)
      return fail("{}: {} took {} s, and a time is not negative", file, launch.kernel, duration->second);
  }
  return {};
}

/// Adds what ncu or nvprof wrote.
Expected<void> add_measured(const std::string& file, const RunSources& sources,
                            std::vector<MeasuredRun>& runs) {
  TRY_LET(parameters, parameters_of(file, sources));
  TRY_LET(launches, read_measured({file}, {sources.base_units}));
  TRY(check_durations(file, *launches));
  if (sources.each_launch)
    add_launches(*parameters, *launches, runs);
  else
    runs.push_back({*parameters, import::mean_of_launches(*launches)});
  return {};
}

void append(RunSet& all, RunSet more) {
  all.regions.insert(all.regions.end(), std::make_move_iterator(more.regions.begin()),
                     std::make_move_iterator(more.regions.end()));
}

} // namespace

Expected<std::vector<RunSet>> read_runs(const RunSources& sources) {
  std::vector<RunSet> sets;
  std::vector<ProfiledRun> profiles;
  std::vector<MeasuredRun> measured;
  RunSet tables; // of dashing and of runs, which hold runs each
  const auto read_table = [&](const std::string& file) -> Expected<void> {
    TRY_LET(text, read_file(file));
    const auto profiler = import::profiler_of(*text);
    if (!profiler)
      return fail("{}: {}", file, profiler.error().message);
    if (*profiler == import::Profiler::runs) {
      const auto table = import::read_run_table(*text);
      if (!table)
        return fail("{}: {}", file, table.error().message);
      append(tables, run_set_of(*table, std::filesystem::path(file).stem().string()));
      return {};
    }
    if (*profiler != import::Profiler::dashing)
      return add_measured(file, sources, measured);
    const auto table = import::read_dashing(*text);
    if (!table)
      return fail("{}: {}", file, table.error().message);
    RunSet table_runs = run_set_of(*table);
    if (const auto checked = check_times(table_runs); !checked)
      return fail("{}: {}", file, checked.error().message);
    append(tables, std::move(table_runs));
    return {};
  };
  for (const std::string& file : sources.measured)
    TRY(read_table(file));
  std::error_code error;
  std::vector<std::string> folders;
  for (const std::string& input : sources.inputs) {
    if (std::filesystem::is_directory(input, error)) {
      TRY_LET(swept, read_profiles(input));
      folders.push_back(input);
      sets.push_back(run_set_of(*swept));
    } else if (input.ends_with(".json")) {
      TRY_LET(result, read_result(input));
      TRY_LET(parameters, parameters_of(input, sources));
      profiles.push_back({*parameters, std::move(*result)});
    } else {
      TRY(read_table(input));
    }
  }
  if (folders.size() > 1) // kernels of several versions share their names
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (Region& region : sets[i].regions)
        region.name += " (" + folders[i] + ")";
  if (!profiles.empty())
    sets.push_back(run_set_of(profiles));
  if (!measured.empty()) {
    for (RunSet& set : sets)
      add_measurements(set, measured);
    if (sets.empty())
      sets.push_back(run_set_of(measured));
  }
  if (!tables.regions.empty())
    sets.push_back(std::move(tables));
  if (sets.empty())
    return fail(
        "nothing to explain: name the folder of a sweep, results, or tables of ncu, nvprof, dashing or runs");
  return sets;
}

} // namespace warplens::driver
