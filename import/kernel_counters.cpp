#include "import/kernel_counters.h"

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

double unit_scale(std::string_view unit) {
  unit = trimmed(unit.substr(0, unit.find('/')));
  for (const auto& [name, scale] : times)
    if (unit == name)
      return scale;
  for (const std::string_view bytes : {"byte", "B"}) {
    if (!unit.ends_with(bytes))
      continue;
    const std::string_view prefix = unit.substr(0, unit.size() - bytes.size());
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
  if (has("Kernel Name"))
    return Profiler::ncu;
  if (has("Invocations") && (has("Event Name") || has("Metric Name")))
    return Profiler::nvprof;
  if (head.starts_with(",") || head.starts_with("\"\","))
    return Profiler::dashing;
  return fail(
      "no table of ncu (with \"Kernel Name\"), nvprof (with \"Event Name\" or \"Metric Name\") or dashing "
      "(with regions in its first line)");
}

std::vector<KernelCounters> mean_of_launches(const std::vector<KernelCounters>& launches) {
  std::vector<KernelCounters> means;
  std::vector<std::map<std::string, double>> seen; // launches that have each counter
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const KernelCounters& launch : launches) {
    const auto [place, is_new] = places.emplace(std::pair(launch.kernel, launch.device), means.size());
    if (is_new) {
      means.push_back({launch.kernel, launch.device, 0, {}});
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
