#include "significance/run_set.h"

#include "support/parse_number.h"

#include <algorithm>
#include <cmath>

namespace warplens::significance {

namespace {

bool same_value(const std::string& a, const std::string& b) {
  if (a == b)
    return true;
  const auto first = parse_number(a), second = parse_number(b);
  return first && second && *first == *second;
}

/// Returns the mean over each group of runs, of the values that are there.
std::vector<double> means(const std::vector<double>& values, const std::vector<std::size_t>& group_of,
                          std::size_t groups) {
  std::vector<double> sums(groups, 0);
  std::vector<unsigned> counts(groups, 0);
  for (std::size_t run = 0; run < values.size(); ++run)
    if (std::isfinite(values[run])) {
      sums[group_of[run]] += values[run];
      ++counts[group_of[run]];
    }
  for (std::size_t group = 0; group < groups; ++group)
    sums[group] = counts[group] == 0 ? missing : sums[group] / counts[group];
  return sums;
}

} // namespace

std::string text_of(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

std::optional<std::string> value_of(const Parameters& parameters, const std::string& name) {
  const auto found = std::ranges::find(parameters, name, &Parameters::value_type::first);
  return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

bool same_configuration(const Parameters& a, const Parameters& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& parameter) {
           const auto other = value_of(b, parameter.first);
           return other && same_value(parameter.second, *other);
         });
}

Expected<void> check_times(const RunSet& runs) {
  for (const Region& region : runs.regions) {
    const auto times = region.targets.find("time");
    if (times == region.targets.end())
      continue;
    for (std::size_t run = 0; run < times->second.size(); ++run)
      if (times->second[run] < 0)
        return fail("{}: the time of the run {} is {} s, and a time is not negative", region.name,
                    text_of(region.runs[run]), times->second[run]);
  }
  return {};
}

void average_repeats(Region& region) {
  std::vector<Parameters> runs;
  std::vector<std::size_t> group_of;
  for (const Parameters& run : region.runs) {
    const auto known =
        std::ranges::find_if(runs, [&](const auto& other) { return same_configuration(run, other); });
    group_of.push_back(static_cast<std::size_t>(known - runs.begin()));
    if (known == runs.end())
      runs.push_back(run);
  }
  if (runs.size() == region.runs.size())
    return;
  for (Counter& counter : region.counters)
    counter.values = means(counter.values, group_of, runs.size());
  for (auto& [name, values] : region.targets)
    values = means(values, group_of, runs.size());
  if (!region.launches.empty())
    region.launches = means(region.launches, group_of, runs.size());
  region.runs = std::move(runs);
}

void RegionBuilder::begin_run(Parameters parameters) {
  region_.runs.push_back(std::move(parameters));
  for (Counter& counter : region_.counters)
    counter.values.push_back(missing);
  for (auto& [name, values] : region_.targets)
    values.push_back(missing);
}

void RegionBuilder::add(const std::string& name, const std::string& kind,
                        const std::optional<SourcePosition>& place, double value) {
  const auto [known, is_new] = places_.emplace(name, region_.counters.size());
  if (is_new)
    region_.counters.push_back({name, kind, place, std::vector<double>(region_.runs.size(), missing)});
  double& here = region_.counters[known->second].values.back();
  here = std::isfinite(here) ? here + value : value;
}

void RegionBuilder::set_target(const std::string& name, double value) {
  auto& values = region_.targets[name];
  values.resize(region_.runs.size(), missing);
  values.back() = value;
}

} // namespace warplens::significance
