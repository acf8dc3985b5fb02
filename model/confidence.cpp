#include "model/confidence.h"

#include "model/figures.h"

namespace warplens::model {
namespace {

bool narrower(const std::optional<Statistic>& statistic, double half) {
  return !statistic || (statistic->ci95[1] - statistic->ci95[0]) / 2 < half;
}

bool rate_known(const std::optional<Statistic>& rate, const Confidence& wanted) {
  return narrower(rate, wanted.rate);
}

bool latency_known(const std::optional<Statistic>& latency, const Confidence& wanted) {
  return !latency || latency->mean == 0 || narrower(latency, wanted.latency * latency->mean);
}

} // namespace

bool known_well(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu,
                const Confidence& wanted) {
  const Totals totals = totals_of(trials, gpu);
  if (!rate_known(totals.l1_read_hit_rate, wanted) || !rate_known(totals.l2_read_hit_rate, wanted) ||
      !rate_known(totals.l2_write_hit_rate, wanted) || !rate_known(totals.constant_hit_rate, wanted) ||
      !rate_known(totals.constant_group_hit_rate, wanted) || !latency_known(totals.dram_latency_ns, wanted))
    return false;
  if (!latency_known(cycles_of(trials), wanted))
    return false;
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    if (snapshot.sites[i].executions * 100 < snapshot.warp_accesses)
      continue;
    const SiteStatistics site = site_statistics(snapshot.sites[i], i, trials, gpu);
    if (!rate_known(site.l1_hit_rate, wanted) || !rate_known(site.l2_hit_rate, wanted) ||
        !rate_known(site.constant_hit_rate, wanted) || !latency_known(site.latency_ns, wanted))
      return false;
  }
  return true;
}

} // namespace warplens::model
