#include "judge/costly_lines.h"

#include <algorithm>
#include <map>
#include <utility>

namespace warplens::judge {
namespace {

constexpr double notable_share = 0.01; // smaller ones are not worth a look

} // namespace

const SiteMetric& cost_metric(const KernelResult& kernel) {
  return site_metric(kernel.time ? "time_share" : "latency_share");
}

std::optional<double> share_of(const std::vector<const SiteResult*>& sites, const SiteMetric& metric) {
  std::optional<double> sum;
  for (const SiteResult* site : sites)
    if (const std::optional<MetricValue> value = metric.value(*site))
      sum = sum.value_or(0) + value->mean;
  return sum;
}

std::vector<CostlyLine> lines_of(const KernelResult& kernel) {
  const SiteMetric& cost = cost_metric(kernel);
  std::map<std::pair<std::string, std::uint32_t>, CostlyLine> by_place;
  for (const SiteResult& result : kernel.sites) {
    CostlyLine& line = by_place[{result.site.file, result.site.line}];
    line.file = result.site.file;
    line.line = result.site.line;
    line.sites.push_back(&result);
  }
  std::map<std::string, double> cost_of_file;
  std::vector<CostlyLine> lines;
  for (auto& [place, line] : by_place) {
    line.share = share_of(line.sites, cost);
    cost_of_file[line.file] += line.share.value_or(0);
    std::stable_sort(line.sites.begin(), line.sites.end(),
                     [](const SiteResult* left, const SiteResult* right) {
                       return left->site.column < right->site.column;
                     });
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const CostlyLine& left, const CostlyLine& right) {
    const double left_cost = cost_of_file.at(left.file), right_cost = cost_of_file.at(right.file);
    return left_cost != right_cost ? left_cost > right_cost : left.file < right.file;
  });
  return lines;
}

std::vector<const CostlyLine*> most_expensive(const std::vector<CostlyLine>& lines, std::size_t count) {
  std::vector<const CostlyLine*> sorted;
  for (const CostlyLine& line : lines)
    if (line.share && *line.share > 0)
      sorted.push_back(&line);
  std::stable_sort(sorted.begin(), sorted.end(), [](const CostlyLine* left, const CostlyLine* right) {
    return *left->share > *right->share;
  });
  sorted.resize(std::min(sorted.size(), count));
  while (sorted.size() > 1 && *sorted.back()->share < notable_share)
    sorted.pop_back();
  return sorted;
}

} // namespace warplens::judge
