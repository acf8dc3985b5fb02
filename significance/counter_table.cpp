#include "significance/counter_table.h"

#include <algorithm>
#include <cmath>

namespace warplens::significance {
namespace {

/// The group of counters without a line, where lines are the groups.
constexpr const char* whole_kernel = "the whole kernel";

std::string line_of(const SourcePosition& place) {
  return fmt::format("{}:{}", place.file, place.line);
}

/// Adds values where both are there; a value that one side lacks is the other's.
void add_values(std::vector<double>& sums, const std::vector<double>& values) {
  for (std::size_t run = 0; run < sums.size(); ++run)
    if (std::isfinite(values[run]))
      sums[run] = std::isfinite(sums[run]) ? sums[run] + values[run] : values[run];
}

} // namespace

Region merge_counters(const Region& region, Grouping grouping) {
  Region merged = region;
  if (grouping == Grouping::access)
    return merged;
  merged.counters.clear();
  std::map<std::string, std::size_t> known;
  for (const Counter& counter : region.counters) {
    if (!counter.place) {
      merged.counters.push_back(counter);
      continue;
    }
    const bool by_line = grouping == Grouping::line;
    const std::string name = by_line ? counter.kind + " " + line_of(*counter.place) : counter.kind;
    const auto [place, is_new] = known.emplace(name, merged.counters.size());
    if (!is_new) {
      add_values(merged.counters[place->second].values, counter.values);
      continue;
    }
    merged.counters.push_back(counter);
    merged.counters.back().name = name;
    if (by_line)
      merged.counters.back().place->expression.clear();
    else
      merged.counters.back().place.reset();
  }
  return merged;
}

CounterTable counter_table(const Region& region, const ResourceGroups& groups, Grouping grouping,
                           const std::vector<std::string>& withheld) {
  CounterTable table;
  for (const Counter& counter : region.counters) {
    const auto verdict = groups.verdict_on(counter.kind.empty() ? counter.name : counter.kind);
    if (std::ranges::find(withheld, counter.name) != withheld.end())
      table.excluded.emplace_back(counter.name, "it is the target");
    else if (verdict.excluded)
      table.excluded.emplace_back(counter.name, *verdict.excluded);
    else {
      table.counters.push_back(&counter);
      table.resources.push_back(grouping != Grouping::line ? verdict.resource
                                : counter.place            ? line_of(*counter.place)
                                                           : whole_kernel);
    }
  }
  table.values.resize(static_cast<Eigen::Index>(region.runs.size()),
                      static_cast<Eigen::Index>(table.counters.size()));
  for (std::size_t j = 0; j < table.counters.size(); ++j)
    table.values.col(static_cast<Eigen::Index>(j)) =
        Eigen::Map<const Eigen::VectorXd>(table.counters[j]->values.data(), table.values.rows());
  return table;
}

} // namespace warplens::significance
