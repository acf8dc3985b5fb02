#include "report/verdict.h"

#include "report/figures.h"
#include "report/resource_text.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace warplens::report {
namespace {

// The limits from which a figure is worth a programmer's time.
constexpr double notable_conflicts = 0.5;     // extra passes per request
constexpr double notable_sector_excess = 1.5; // sectors touched over sectors needed
constexpr double notable_miss_share = 0.5;    // share of the sectors
constexpr double notable_touches = 1.5;       // touches of each sector, over the whole kernel
constexpr double few_lanes = 16;
constexpr double notable_wait = 0.5;  // cycles per execution
constexpr double notable_work = 0.05; // share of what a resource serves
constexpr double mostly_busy = 0.5;   // share of the kernel's time

std::optional<Finding> on_conflicts(const SiteResult& site) {
  if (!site.bank_conflicts || *site.bank_conflicts < notable_conflicts)
    return std::nullopt;
  return Finding{Rule::bank_conflicts,
                 fmt::format("bank conflicts: {} extra passes per request", ratio(site.bank_conflicts))};
}

std::optional<Finding> on_coalescing(const SiteResult& site) {
  const std::optional<double> needed = needed_sectors_per_request(site);
  if (!needed || !site.sectors_per_request || *site.sectors_per_request < notable_sector_excess * *needed)
    return std::nullopt;
  return Finding{Rule::uncoalesced, fmt::format("uncoalesced: {} sectors per request where {} would do",
                                                ratio(site.sectors_per_request), ratio(needed))};
}

/// Returns the mean number of times that the kernel touches each sector of the array that the site accesses.
std::optional<double> touches(const SiteResult& site, const KernelResult& kernel) {
  const auto object = std::ranges::find(kernel.objects, site.site.object, &ObjectResult::name);
  if (site.site.object.empty() || object == kernel.objects.end() || object->footprint_bytes == 0)
    return std::nullopt;
  return static_cast<double>(object->bytes_moved) / static_cast<double>(object->footprint_bytes);
}

std::optional<Finding> on_locality(const SiteResult& site, const KernelResult& kernel) {
  if (!site.l1_hit_rate || !site.l2_hit_rate)
    return std::nullopt;
  const double beyond_l1 = 1 - site.l1_hit_rate->mean, beyond_l2 = beyond_l1 * (1 - site.l2_hit_rate->mean);
  if (beyond_l1 < notable_miss_share)
    return std::nullopt;
  const bool from_dram = beyond_l2 >= notable_miss_share;
  const std::string from =
      fmt::format("{} % of its sectors come from {}", percent(from_dram ? beyond_l2 : beyond_l1),
                  from_dram ? "DRAM" : "L2 or DRAM");
  const std::optional<double> each = touches(site, kernel);
  if (!each)
    return Finding{Rule::from_afar, from};
  if (*each < notable_touches)
    return Finding{Rule::streaming, fmt::format("streaming: {}, each is touched once", from)};
  return Finding{Rule::poor_locality, fmt::format("poor {}locality: {}, each is touched {} times",
                                                  from_dram ? "" : "L1 ", from, ratio(each))};
}

std::optional<Finding> on_lanes(const SiteResult& site) {
  if (site.executions == 0 || site.active_lanes >= few_lanes)
    return std::nullopt;
  return Finding{Rule::few_lanes, fmt::format("only {} of 32 lanes active", ratio(site.active_lanes))};
}

std::optional<Finding> on_contention(const SiteResult& site, const KernelResult& kernel) {
  if (!site.time || !kernel.time)
    return std::nullopt;
  const double work = share_of(site.time->occupied, Resource::atomics);
  const double busy = share_of(kernel.time->busy, Resource::atomics);
  const bool binds = kernel.time->bound == Resource::atomics;
  if (work < notable_work || !(binds || busy >= mostly_busy))
    return std::nullopt;
  const std::string effect =
      binds ? "bound the kernel" : fmt::format("keep it busy for {} % of the time", share(busy));
  return Finding{Rule::contention, fmt::format("contended: {} % of {}, which {}", share(work),
                                               work_of(Resource::atomics), effect)};
}

std::string fine(const SiteResult& site) {
  // A store that is new to the L2 need not be at fault: each sector must be written once.
  if (site.site.kind == AccessKind::store && site.l2_hit_rate)
    return fmt::format("fine: {} sectors per request, {} of them in L2 already",
                       ratio(site.sectors_per_request),
                       site.l2_hit_rate->mean == 0 ? "none" : percent(site.l2_hit_rate->mean) + " %");
  if (site.l1_hit_rate)
    return fmt::format("fine: {} % L1 hits", percent(site.l1_hit_rate->mean));
  if (site.constant_hit_rate)
    return fmt::format("fine: {} % hits in the constant cache", percent(site.constant_hit_rate->mean));
  if (site.l2_hit_rate)
    return fmt::format("fine: {} % L2 hits", percent(site.l2_hit_rate->mean));
  return site.bank_conflicts ? "fine: hardly any bank conflicts" : "nothing notable was observed";
}

bool is_wasteful(const SiteResult& site, const KernelResult& kernel) {
  return on_conflicts(site) || on_coalescing(site) || on_contention(site, kernel);
}

} // namespace

std::optional<double> needed_sectors_per_request(const SiteResult& site) {
  if (!site.bytes_used || site.executions == 0)
    return std::nullopt;
  const double bytes_per_request =
      static_cast<double>(*site.bytes_used) / static_cast<double>(site.executions);
  return std::max(1.0, std::ceil(bytes_per_request / sector_bytes));
}

std::vector<Finding> findings_on(const SiteResult& site, const KernelResult& kernel) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding)
      findings.push_back(std::move(*finding));
  };
  add(on_conflicts(site));
  add(on_coalescing(site));
  add(on_contention(site, kernel));
  if (findings.empty())
    add(on_locality(site, kernel));
  add(on_lanes(site));
  return findings;
}

std::string verdict_on(const SiteResult& site, const KernelResult& kernel) {
  const std::vector<Finding> findings = findings_on(site, kernel);
  // Idle lanes say nothing about the memory hierarchy.
  std::string text = findings.empty() || findings.front().rule == Rule::few_lanes ? fine(site) : "";
  for (const Finding& finding : findings)
    text += (text.empty() ? "" : "; ") + finding.text;
  return text;
}

std::string time_verdict_on(const SiteResult& site, const KernelResult& kernel) {
  if (!site.time || !kernel.time)
    return "";
  const std::optional<Resource> bound = kernel.time->bound;
  if (bound == Resource::atomics && on_contention(site, kernel))
    return "";
  if (bound && share_of(site.time->occupied, *bound) >= notable_work)
    return fmt::format("accounts for {} % of {}", share(share_of(site.time->occupied, *bound)),
                       work_of(*bound));
  if (!(site.time->waited.mean >= notable_wait))
    return "";
  return fmt::format("warps wait {} cycles per execution for it", short_count(site.time->waited.mean));
}

std::vector<LineVerdict> verdicts_on(const CostlyLine& line, const KernelResult& kernel) {
  const Column& cost = cost_column(kernel);
  const SiteResult* worst = *std::ranges::max_element(
      line.sites, {}, [&](const SiteResult* site) { return cost.value(*site).value_or(0); });
  std::vector<LineVerdict> verdicts;
  const auto add = [&](const SiteResult* site) {
    verdicts.push_back({site, time_verdict_on(*site, kernel), verdict_on(*site, kernel)});
  };
  add(worst);
  for (const SiteResult* other : line.sites)
    if (other != worst && is_wasteful(*other, kernel))
      add(other);
  return verdicts;
}

} // namespace warplens::report
