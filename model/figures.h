// Figures of a result, computed from the counts of its trials.
#pragma once

#include "model/gpu/gpu.h"
#include "model/snapshot/snapshot.h"
#include "model/trial/trial.h"
#include "result/result.h"

#include <span>

namespace warplens::model {

struct SiteStatistics {
  std::optional<Statistic> l1_hit_rate, l2_hit_rate, constant_hit_rate, latency_ns;
};

/// Returns the statistics of one site. `index` is its index in Snapshot::sites, and so in TrialCounts::sites.
SiteStatistics site_statistics(const SiteSummary& summary, std::size_t index,
                               std::span<const TrialCounts> trials, const Gpu& gpu);

/// Returns all of a site's result but latency_share, which needs the other sites. `site` is the trace's.
SiteResult site_result(const SiteSummary& summary, std::size_t index, const Site& site,
                       std::span<const TrialCounts> trials, const Gpu& gpu);

/// Returns all totals but cold_miss_share.
Totals totals_of(std::span<const TrialCounts> trials);

/// Returns the values that the totals have in each trial.
TrialValues values_of(std::span<const TrialCounts> trials);

} // namespace warplens::model
