// From what was counted in each trial to figures.
#pragma once

#include "model/gpu.h"
#include "model/snapshot.h"
#include "model/trial.h"
#include "result/result.h"

#include <span>

namespace warplens::model {

struct SiteStatistics {
  std::optional<Statistic> l1_hit_rate, l2_hit_rate, constant_hit_rate, latency_ns;
};

/// `index`: the site's in Snapshot::sites, and so in each trial's.
SiteStatistics site_statistics(const SiteSummary& summary, std::size_t index,
                               std::span<const TrialCounts> trials, const Gpu& gpu);

/// All but latency_share, which needs the other sites. `site`: as the trace describes it.
SiteResult site_result(const SiteSummary& summary, std::size_t index, const trace::Site& site,
                       std::span<const TrialCounts> trials, const Gpu& gpu);

/// All but cold_miss_share.
Totals totals_of(std::span<const TrialCounts> trials);

/// The totals' values in each trial.
TrialValues values_of(std::span<const TrialCounts> trials);

} // namespace warplens::model
