#include "model/evaluate.h"

#include "model/geometry.h"
#include "model/statistics.h"
#include "model/trial.h"

#include <algorithm>
#include <mutex>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tuple>

namespace warplens::model {
namespace {

/// Each trial has caches and queues of its own; they come back in their order, whoever ran them.
std::vector<TrialCounts> run_trials(const Snapshot& snapshot, const Gpu& gpu, const Occupancy& occupied,
                                    const trace::Launch& launch, const Options& options) {
  std::vector<TrialCounts> trials(options.trials);
  std::mutex reporting;
  std::uint32_t done = 0;
  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(options.threads == 0 ? cores : int(std::min(options.threads, unsigned(cores))));
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::uint32_t>(0, options.trials, 1),
        [&](const tbb::blocked_range<std::uint32_t>& range) {
          for (std::uint32_t i = range.begin(); i != range.end(); ++i) {
            trials[i] = run_trial(snapshot, gpu, occupied, Random(options.seed, launch.id, i));
            if (!options.progress)
              continue;
            const std::lock_guard lock(reporting);
            options.progress(launch.kernel, gpu.id, ++done, options.trials);
          }
        },
        tbb::simple_partitioner());
  });
  return trials;
}

/// The statistic of `value(trial)`, an optional: trials in which there was nothing to see do not count;
/// absent if fewer than two did.
template <class Value> std::optional<Statistic> over(const std::vector<TrialCounts>& trials, Value&& value) {
  std::vector<double> values;
  for (const TrialCounts& trial : trials)
    if (const std::optional<double> seen = value(trial))
      values.push_back(*seen);
  if (values.size() < 2)
    return std::nullopt;
  return summarize(values);
}

std::optional<double> rate(const Lookups& lookups) {
  if (lookups.all == 0)
    return std::nullopt;
  return double(lookups.hits) / double(lookups.all);
}

trace::Space observed_space(const SiteSummary& summary) {
  const auto kinds = std::count(std::begin(summary.seen), std::end(summary.seen), true);
  const auto first =
      std::find(std::begin(summary.seen), std::end(summary.seen), true) - std::begin(summary.seen);
  return kinds == 1 ? trace::Space(first) : trace::Space::generic;
}

SiteResult site_result(const SiteSummary& summary, std::size_t index, const trace::Site& site,
                       const std::vector<TrialCounts>& trials, const Gpu& gpu) {
  SiteResult result;
  result.site = site;
  result.site.space = observed_space(summary);
  result.executions = summary.executions;
  const double executions = double(summary.executions);
  result.active_lanes = double(summary.active_lanes) / executions;
  if (const std::uint64_t elsewhere = summary.executions - summary.shared; elsewhere != 0) {
    result.sectors_per_request = double(summary.sectors) / double(elsewhere);
    result.bytes_used = summary.bytes_used;
    result.bytes_moved = summary.sectors * sector_bytes;
  }
  const double extra_passes = double(summary.bank_passes - summary.least_bank_passes);
  if (summary.shared != 0)
    result.bank_conflicts = extra_passes / double(summary.shared);
  result.l1_hit_rate = over(trials, [&](const TrialCounts& trial) { return rate(trial.sites[index].l1); });
  result.l2_hit_rate = over(trials, [&](const TrialCounts& trial) { return rate(trial.sites[index].l2); });
  const double fixed_ns = double(summary.shared) * gpu.shared.latency_ns + extra_passes * gpu.shared.pass_ns +
                          double(summary.constant) * gpu.constant_latency_ns;
  result.latency_ns = over(trials, [&](const TrialCounts& trial) {
    return std::optional((trial.sites[index].all_latency_ns() + fixed_ns) / executions);
  });
  return result;
}

Totals totals_of(const std::vector<TrialCounts>& trials) {
  Totals totals;
  totals.l1_read_hit_rate = over(trials, [](const TrialCounts& trial) { return rate(trial.l1_reads); });
  totals.l2_read_hit_rate = over(trials, [](const TrialCounts& trial) { return rate(trial.l2_reads); });
  totals.l2_write_hit_rate = over(trials, [](const TrialCounts& trial) { return rate(trial.l2_writes); });
  totals.dram_latency_ns = over(trials, [](const TrialCounts& trial) -> std::optional<double> {
    if (trial.dram_reads == 0)
      return std::nullopt;
    return trial.dram_latency_ns / double(trial.dram_reads);
  });
  double read = 0, written = 0;
  for (const TrialCounts& trial : trials) {
    read += double(trial.dram_read_sectors) * sector_bytes;
    written += double(trial.dram_written_sectors) * sector_bytes;
  }
  if (totals.l2_read_hit_rate || totals.l2_write_hit_rate) {
    totals.dram_read_bytes = read / double(trials.size());
    totals.dram_write_bytes = written / double(trials.size());
  }
  return totals;
}

/// Whether the mean of every total is known well enough: half an interval below 0.005 for rates, below 2 %
/// for latencies.
bool converged(const Totals& totals) {
  const auto half = [](const Statistic& statistic) { return (statistic.ci95[1] - statistic.ci95[0]) / 2; };
  for (const auto& rate : {totals.l1_read_hit_rate, totals.l2_read_hit_rate, totals.l2_write_hit_rate})
    if (rate && half(*rate) >= 0.005)
      return false;
  return !totals.dram_latency_ns || half(*totals.dram_latency_ns) < 0.02 * totals.dram_latency_ns->mean;
}

} // namespace

Expected<KernelResult> evaluate_launch(const Snapshot& snapshot, const std::vector<trace::Site>& sites,
                                       const trace::Launch& launch, const Gpu& gpu, const Options& options) {
  const auto occupied = occupancy(gpu, launch);
  if (!occupied)
    return tl::unexpected(occupied.error());
  const std::vector<TrialCounts> trials = run_trials(snapshot, gpu, *occupied, launch, options);

  KernelResult result;
  result.name = launch.kernel;
  result.gpu = gpu.id;
  result.gpu_validated = gpu.validated;
  result.grid = launch.grid;
  result.block = launch.block;
  result.occupancy = {occupied->blocks_per_sm, occupied->warps_per_sm, occupied->limited_by};
  result.snapshot.blocks = snapshot.blocks_seen;
  result.snapshot.warp_accesses = snapshot.warp_accesses;
  result.snapshot.transactions = snapshot.transactions;
  result.totals = totals_of(trials);
  result.trials.run = options.trials;
  result.trials.converged = converged(result.totals);

  double all_latency = 0;
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    result.sites.push_back(site_result(snapshot.sites[i], i, sites[snapshot.sites[i].site], trials, gpu));
    const SiteResult& site = result.sites.back();
    all_latency += double(site.executions) * site.latency_ns->mean;
  }
  for (SiteResult& site : result.sites)
    if (all_latency > 0)
      site.latency_share = double(site.executions) * site.latency_ns->mean / all_latency;
  std::stable_sort(result.sites.begin(), result.sites.end(), [](const SiteResult& a, const SiteResult& b) {
    return std::tie(a.site.file, a.site.line, a.site.column) <
           std::tie(b.site.file, b.site.line, b.site.column);
  });
  return result;
}

Expected<Result> evaluate(const trace::Reader& trace, const std::vector<Gpu>& gpus, const Options& options) {
  if (options.trials < 2)
    return fail("{} trial is too few: an interval needs at least 2", options.trials);
  Result result;
  result.program = trace.program().name;
  result.seed = options.seed;
  result.trace_truncated = trace.truncated();

  std::uint64_t executed = 0, probed = 0;
  for (const trace::Launch& launch : trace.launches()) {
    const auto end = trace.end_of(launch.id);
    if (end) {
      executed += end->executed_accesses;
      probed += end->probed_accesses;
    }
    const auto snapshot = decode(trace, launch);
    if (!snapshot)
      return tl::unexpected(snapshot.error());
    for (const Gpu& gpu : gpus) {
      auto kernel = evaluate_launch(*snapshot, trace.sites(), launch, gpu, options);
      if (!kernel)
        return tl::unexpected(kernel.error());
      kernel->snapshot.complete = end && end->complete;
      for (const trace::KernelLaunches& counted : trace.kernel_launches())
        if (counted.symbol == launch.symbol)
          kernel->launches += counted.launches;
      result.kernels.push_back(std::move(*kernel));
    }
  }
  if (executed != 0)
    result.executed_accesses_probed = double(probed) / double(executed);
  return result;
}

} // namespace warplens::model
