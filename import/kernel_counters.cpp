#include "import/kernel_counters.h"

#include "import/run_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace warplens::import {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

constexpr std::array<std::pair<std::string_view, double>, 9> times = {{{"second", 1},
                                                                       {"msecond", 1e-3},
                                                                       {"usecond", 1e-6},
                                                                       {"nsecond", 1e-9},
                                                                       {"s", 1},
                                                                       {"ms", 1e-3},
                                                                       {"us", 1e-6},
                                                                       {"\xc2\xb5s", 1e-6},
                                                                       {"ns", 1e-9}}};

/// Returns the factor of a unit without a slash.
double plain_scale(std::string_view unit) {
  for (const auto& [name, scale] : times)
    if (unit == name)
      return scale;
  for (const std::string_view what : {"byte", "B", "hz", "Hz"}) {
    if (!unit.ends_with(what))
      continue;
    const std::string_view prefix = unit.substr(0, unit.size() - what.size());
    if (prefix == "K" || prefix == "k")
      return 1e3;
    if (prefix == "M")
      return 1e6;
    if (prefix == "G")
      return 1e9;
    if (prefix == "T")
      return 1e12;
  }
  return 1;
}

/// The metrics that Warplens compares or explains with, by the labels of Nsight Compute's sections.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> labels = {
    {{"Duration", "gpu__time_duration.sum"},
     {"Elapsed Cycles", "gpc__cycles_elapsed.max"},
     {"SM Active Cycles", "sm__cycles_active.avg"},
     {"SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
     {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
     {"DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
     {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
     {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
     {"Executed Instructions", "smsp__inst_executed.sum"},
     {"Issued Instructions", "smsp__inst_issued.sum"},
     {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
     {"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed"},
     {"Registers Per Thread", "launch__registers_per_thread"},
     {"Grid Size", "launch__grid_size"},
     {"Block Size", "launch__block_size"},
     {"Threads", "launch__thread_count"},
     {"Waves Per SM", "launch__waves_per_multiprocessor"},
     {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
     {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
     {"Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle"},
     {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
     {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
     {"Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"},
     {"Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"}}};

} // namespace

std::optional<double> printed_number(std::string_view text) {
  text = trimmed(text.substr(0, text.find_first_of("({")));
  std::string digits;
  for (const char c : text)
    if (c != ',')
      digits += c;
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

bool has_decimal_comma(std::string_view text) {
  text = trimmed(text.substr(0, text.find_first_of("({")));
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.find_first_not_of("+-0123456789,.") != std::string_view::npos)
    return false;
  std::string_view whole = text.substr(0, text.find('.'));
  if (text.find(',', whole.size()) != std::string_view::npos)
    return true; // "1.024,5"
  for (std::size_t at = comma; at < whole.size(); at += 4)
    if (whole[at] != ',' || whole.size() - at < 4 ||
        whole.substr(at + 1, 3).find(',') != std::string_view::npos)
      return true;
  return false;
}

double unit_scale(std::string_view unit) {
  const std::size_t slash = unit.find('/');
  const double scale = plain_scale(trimmed(unit.substr(0, slash)));
  return slash == std::string_view::npos ? scale : scale / plain_scale(trimmed(unit.substr(slash + 1)));
}

double base_scale(std::string_view metric) {
  return metric.starts_with("gpu__time") ? 1e-9 : 1;
}

std::string_view metric_of_label(std::string_view label) {
  for (const auto& [name, metric] : labels)
    if (label == name)
      return metric;
  return label;
}

std::optional<Extents> printed_extents(std::string_view text) {
  Extents extents{};
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] < '0' || text[at] > '9') {
      ++at;
      continue;
    }
    if (count == extents.size())
      return std::nullopt;
    const auto [end, problem] =
        std::from_chars(text.data() + at, text.data() + text.size(), extents[count++]);
    if (problem != std::errc())
      return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
  }
  return count == extents.size() ? std::optional(extents) : std::nullopt;
}

std::string base_name(std::string_view kernel) {
  if (kernel.starts_with("void "))
    kernel.remove_prefix(5);
  // Names of namespaces without one hold the characters that end a name otherwise.
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    while (true) {
      const std::size_t at = kernel.find(unnamed);
      if (at == std::string_view::npos || kernel.substr(0, at).find_first_of("<(") != std::string_view::npos)
        break;
      kernel.remove_prefix(at + unnamed.size());
    }
  kernel = kernel.substr(0, kernel.find_first_of("<("));
  if (const std::size_t colons = kernel.rfind("::"); colons != std::string_view::npos)
    kernel.remove_prefix(colons + 2);
  return std::string(kernel.substr(0, kernel.find_last_not_of(' ') + 1));
}

std::string without_messages(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with("=="))
      kept += line;
    else
      kept += '\n'; // keeps the numbers of the lines after it
    at = end;
  }
  return kept;
}

Expected<Profiler> profiler_of(std::string_view text) {
  constexpr std::size_t looked_at = 1u << 20;
  const std::string_view head = text.substr(0, looked_at);
  const auto has = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (head.starts_with(std::string_view("NVR\0", 4)))
    return Profiler::ncu_report;
  if (head.starts_with("SQLite format 3"))
    return Profiler::nsys;
  if (has("\"Line No\"") && has("\"Address\""))
    return Profiler::ncu_source;
  if (has("Kernel Name"))
    return Profiler::ncu;
  if ((has("Invocations") && (has("Event Name") || has("Metric Name"))) ||
      (has("Duration") && has("Grid X")) || (has("\"Stream\"") && has("\"Kernel\"")))
    return Profiler::nvprof;
  if (head.starts_with(",") || head.starts_with("\"\","))
    return Profiler::dashing;
  if (is_run_table(text))
    return Profiler::runs;
  return fail(
      "no report or CSV of ncu (with \"Kernel Name\"), nvprof (with \"Event Name\", \"Metric Name\" or "
      "\"Grid X\") or dashing (with regions in its first line), no export of nsys (by `nsys export --type "
      "sqlite`), nor a table of runs (with a column \"{}\")",
      target_heading);
}

Expected<std::vector<KernelCounters>> read_counters(std::string_view text, const NcuOptions& options,
                                                    std::vector<KernelCounters>* launches) {
  TRY_LET(profiler, profiler_of(text));
  switch (*profiler) {
  case Profiler::ncu: return read_ncu(text, options);
  case Profiler::ncu_report: return read_ncu_report(text);
  case Profiler::nvprof: return read_nvprof(text);
  case Profiler::nsys: return read_nsys(text);
  case Profiler::ncu_source:
    if (launches == nullptr || launches->empty())
      return fail(
          "ncu's page `source` has no counters of kernels: name the page `raw` or `details` of the same "
          "report before it");
    TRY(add_ncu_source(text, *launches));
    return std::vector<KernelCounters>();
  case Profiler::dashing:
  case Profiler::runs: break;
  }
  return fail("this table has runs, not kernels with their launches: `warplens explain` reads it");
}

std::vector<KernelCounters> mean_of_launches(const std::vector<KernelCounters>& launches) {
  std::vector<KernelCounters> means;
  std::vector<std::map<std::string, double>> seen; // launches that have each counter
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const KernelCounters& launch : launches) {
    const auto [place, is_new] = places.emplace(std::pair(launch.kernel, launch.device), means.size());
    if (is_new) {
      KernelCounters mean;
      mean.kernel = launch.kernel;
      mean.device = launch.device;
      mean.launches = 0;
      means.push_back(std::move(mean));
      seen.emplace_back();
    }
    KernelCounters& mean = means[place->second];
    const auto weight = static_cast<double>(launch.launches);
    mean.launches += launch.launches;
    for (const auto& [name, value] : launch.counters) {
      mean.counters[name] += weight * value;
      seen[place->second][name] += weight;
    }
  }
  for (std::size_t i = 0; i < means.size(); ++i)
    for (auto& [name, value] : means[i].counters)
      value /= seen[i][name];
  return means;
}

} // namespace warplens::import
