#include "report/verdict.h"

#include "report/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace warplens::report {
namespace {

constexpr double sector_bytes = 32;

// Where a figure starts to be worth a programmer's time.
constexpr double notable_conflicts = 0.5;     // extra passes per request
constexpr double notable_sector_excess = 1.5; // sectors touched over sectors needed
constexpr double notable_miss_share = 0.5;    // of the sectors
constexpr double few_lanes = 16;

std::optional<std::string> on_conflicts(const SiteResult& site) {
  if (!site.bank_conflicts || *site.bank_conflicts < notable_conflicts)
    return std::nullopt;
  return fmt::format("bank conflicts: {} extra passes per request", ratio(site.bank_conflicts));
}

std::optional<std::string> on_coalescing(const SiteResult& site) {
  const std::optional<double> needed = needed_sectors_per_request(site);
  if (!needed || !site.sectors_per_request || *site.sectors_per_request < notable_sector_excess * *needed)
    return std::nullopt;
  return fmt::format("uncoalesced: {} sectors per request where {} would do", ratio(site.sectors_per_request),
                     ratio(needed));
}

std::optional<std::string> on_locality(const SiteResult& site) {
  if (site.l1_hit_rate && site.l2_hit_rate) {
    const double beyond_l1 = 1 - site.l1_hit_rate->mean, beyond_l2 = beyond_l1 * (1 - site.l2_hit_rate->mean);
    if (beyond_l2 >= notable_miss_share)
      return fmt::format("poor locality: {} % of its sectors come from DRAM", percent(beyond_l2));
    if (beyond_l1 >= notable_miss_share)
      return fmt::format("poor L1 locality: {} % of its sectors come from L2 or DRAM", percent(beyond_l1));
  }
  return std::nullopt;
}

std::string fine(const SiteResult& site) {
  // A store that is new to the L2 need not be at fault: each sector has to be written once.
  if (site.site.kind == trace::AccessKind::store && site.l2_hit_rate)
    return fmt::format("fine: {} sectors per request, {} % of them in L2 already",
                       ratio(site.sectors_per_request), percent(site.l2_hit_rate->mean));
  if (site.l1_hit_rate)
    return fmt::format("fine: {} % L1 hits", percent(site.l1_hit_rate->mean));
  if (site.l2_hit_rate)
    return fmt::format("fine: {} % L2 hits", percent(site.l2_hit_rate->mean));
  return site.bank_conflicts ? "fine: hardly any bank conflicts" : "nothing notable was observed";
}

} // namespace

std::optional<double> needed_sectors_per_request(const SiteResult& site) {
  if (!site.bytes_used || site.executions == 0)
    return std::nullopt;
  const double bytes_per_request =
      static_cast<double>(*site.bytes_used) / static_cast<double>(site.executions);
  return std::max(1.0, std::ceil(bytes_per_request / sector_bytes));
}

bool is_wasteful(const SiteResult& site) {
  return on_conflicts(site).has_value() || on_coalescing(site).has_value();
}

std::string verdict_on(const SiteResult& site) {
  std::string text;
  const auto add = [&](const std::optional<std::string>& clause) {
    if (clause)
      text += (text.empty() ? "" : "; ") + *clause;
  };
  add(on_conflicts(site));
  add(on_coalescing(site));
  if (text.empty())
    add(on_locality(site));
  if (text.empty())
    text = fine(site);
  if (site.executions && site.active_lanes < few_lanes)
    add(fmt::format("only {} of 32 lanes active", ratio(site.active_lanes)));
  return text;
}

} // namespace warplens::report
