#include "judge/verdict.h"

#include "result/figure_text.h"
#include "result/resources.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>

namespace warplens::judge {
namespace {

bool is_wasteful(const SiteResult& site, const KernelResult& kernel) {
  return std::ranges::any_of(findings_on(site, kernel), is_waste);
}

/// Returns the warp-cycles that warps wait for the site.
double waiting(const SiteResult& site) {
  return site.time ? site.time->waited.mean * static_cast<double>(site.executions) : 0;
}

double all_waiting(const KernelResult& kernel) {
  double sum = 0;
  for (const SiteResult& site : kernel.sites)
    sum += waiting(site);
  return sum;
}

} // namespace

std::vector<std::string> clauses_on(const SiteResult& site, const KernelResult& kernel) {
  const std::vector<Finding> findings = findings_on(site, kernel);
  std::vector<std::string> clauses;
  // Idle lanes say nothing about the memory hierarchy.
  if (findings.empty() || findings.front().rule == Rule::few_lanes)
    clauses.push_back(efficiency_text(site, kernel));
  for (const Finding& finding : findings)
    clauses.push_back(finding.text);
  return clauses;
}

std::string verdict_on(const SiteResult& site, const KernelResult& kernel) {
  return fmt::format("{}", fmt::join(clauses_on(site, kernel), "; "));
}

std::string time_verdict_on(const SiteResult& site, const KernelResult& kernel) {
  if (!site.time || !kernel.time)
    return "";
  const std::optional<Resource> bound = kernel.time->bound;
  if (bound && share_of(site.time->occupied, *bound) >= notable_work)
    return *bound == Resource::atomics // then a finding has the share
               ? ""
               : fmt::format("accounts for {} % of {}", share(share_of(site.time->occupied, *bound)),
                             work_of(*bound));
  const double part = waiting(site) / all_waiting(kernel);
  if (!(part >= notable_work))
    return "";
  return fmt::format("warps wait {} cycles per execution {} it, {} % of all waiting",
                     cycles(Statistic{.mean = site.time->waited.mean}),
                     site.site.kind == AccessKind::barrier ? "at" : "for", share(part));
}

std::vector<const SiteResult*> sites_to_explain(const CostlyLine& line, const KernelResult& kernel) {
  const SiteMetric& cost = cost_metric(kernel);
  const auto cost_of = [&](const SiteResult* site) {
    const std::optional<MetricValue> value = cost.value(*site);
    return value ? value->mean : 0;
  };
  const SiteResult* worst = *std::ranges::max_element(line.sites, {}, cost_of);
  std::vector<const SiteResult*> sites = {worst};
  for (const SiteResult* other : line.sites)
    if (other != worst && is_wasteful(*other, kernel))
      sites.push_back(other);
  return sites;
}

bool is_at_fault(const CostlyLine& line, const KernelResult& kernel) {
  const SiteMetric& cost = cost_metric(kernel);
  return std::ranges::any_of(line.sites, [&](const SiteResult* site) {
    const std::optional<MetricValue> share = cost.value(*site);
    return share && share->mean >= notable_work && is_wasteful(*site, kernel);
  });
}

} // namespace warplens::judge
