// Figures of a result, computed from the counts of its trials.
#pragma once

#include "model/counts/trial_counts.h"
#include "model/gpu/gpu.h"
#include "model/snapshot/snapshot.h"
#include "result/result.h"
#include "trace/records.h"

#include <span>

namespace warplens::model {

/// Sets the hit rates and the latency of one site. `index` is its index in Snapshot::sites, and so in
/// TrialCounts::sites.
void set_statistics(SiteResult& result, const SiteSummary& summary, std::size_t index,
                    std::span<const TrialCounts> trials, const Gpu& gpu);

/// Returns what of a site's result is the same in each trial and needs none: its requests, sectors, banks and
/// lanes; of a barrier, nothing of memory. `site` is the trace's.
SiteResult site_counts(const SiteSummary& summary, const Site& site);

/// Returns all of a site's result but latency_share, which needs the other sites; of a barrier, nothing of
/// memory. `site` is the trace's.
SiteResult site_result(const SiteSummary& summary, std::size_t index, const Site& site,
                       std::span<const TrialCounts> trials, const Gpu& gpu);

/// Returns the statistic of the trials' cycles; empty if they had no clock.
std::optional<Statistic> cycles_of(std::span<const TrialCounts> trials);

/// Returns how many accesses took a warp's turn and have no instruction that is known; the snapshot has its
/// code.
std::uint64_t accesses_apart(const TrialCounts& trial, const Snapshot& snapshot);

/// Returns what the snapshot's warps executed; the snapshot has its code.
ExecutedCode executed_code(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu);

/// Returns the kernel's time; empty if the trials had no clock, or nothing to do.
std::optional<KernelTime> kernel_time(std::span<const TrialCounts> trials, const Snapshot& snapshot,
                                      const trace::Launch& launch, const Gpu& gpu);

/// Returns what the warps do; empty if the trials had no clock.
std::optional<WarpTime> warp_time(std::span<const TrialCounts> trials, const Gpu& gpu);

/// Returns what warps do at each line where they spend time, by file and line; nothing if the trials had no
/// clock. `sites` are the trace's.
std::vector<LineTime> line_times(std::span<const TrialCounts> trials, const Snapshot& snapshot,
                                 const std::vector<Site>& sites);

/// Sums over the sites of a trial, of which site_time() returns shares; DRAM includes the write-backs of
/// earlier launches.
struct TimeSums {
  double stalled = 0; ///< warp-cycles
  double active = 0;  ///< warp-cycles of warps that have not ended
  ByResource occupied{};
};
/// Returns them for each trial.
std::vector<TimeSums> time_sums(std::span<const TrialCounts> trials);

/// Returns the site's part in the kernel's time; empty if that has none. Its share is its part in the work of
/// the busiest resource for as long as that is busy, and for the rest of the time its part in what warps
/// wait for: its result, or its turn.
std::optional<SiteTime> site_time(const SiteSummary& summary, std::size_t index,
                                  std::span<const TrialCounts> trials, std::span<const TimeSums> sums,
                                  const std::optional<KernelTime>& kernel);

/// Returns all totals but cold_miss_share.
Totals totals_of(std::span<const TrialCounts> trials, const Gpu& gpu);

/// Returns the values that the totals have in each trial.
TrialValues values_of(std::span<const TrialCounts> trials);
/// Returns TrialValues::microseconds.
TrialValues::Values launch_times(std::span<const TrialCounts> trials, const trace::Launch& launch,
                                 const Gpu& gpu);
/// Returns their statistic; absent if there are fewer than two, or without a clock.
std::optional<Statistic> launch_time(std::span<const TrialCounts> trials, const trace::Launch& launch,
                                     const Gpu& gpu);

} // namespace warplens::model
