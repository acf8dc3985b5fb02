#include "model/evaluate.h"

#include "model/figures.h"
#include "model/run_trials.h"

#include <algorithm>
#include <tuple>

namespace warplens::model {
namespace {

/// Why the snapshot is as large as it is.
std::string limit_of(const trace::Launch& launch, const Gpu& gpu, const Occupancy& occupied,
                     const Options& options) {
  if (launch.blocks >= launch.grid.count())
    return "all of the grid";
  const double resident = double(occupied.blocks_per_sm) * gpu.sms;
  return fmt::format("{:.3g} × the resident blocks of {} SMs{}", double(launch.blocks) / resident, gpu.sms,
                     options.snapshot_blocks ? ", as asked for" : "");
}

/// The launch, with as many of the trace's blocks as the GPU asks for: whichever others are modelled beside
/// it.
trace::Launch part_for(const Gpu& gpu, trace::Launch launch, const Options& options) {
  const std::uint64_t threads = std::max<std::uint64_t>(launch.block.count(), 1);
  const std::uint64_t asked =
      options.snapshot_blocks.value_or((snapshot_threads(gpu) + threads - 1) / threads);
  launch.blocks = std::min(launch.blocks, asked);
  return launch;
}

} // namespace

Expected<KernelResult> evaluate_launch(const Snapshot& snapshot, const std::vector<trace::Site>& sites,
                                       const trace::Launch& launch, const Gpu& gpu, const Options& options) {
  const auto occupied = occupancy(gpu, launch);
  if (!occupied)
    return tl::unexpected(occupied.error());
  Trials trials = run_trials(snapshot, sites, launch, gpu, *occupied, options);

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
  result.snapshot.limit = limit_of(launch, gpu, *occupied, options);
  result.trials.run = std::uint32_t(trials.counts.size());
  result.trials.converged = trials.known_well;
  result.trials.stopped_by = trials.enough ? StoppedBy::confidence : StoppedBy::limit;
  result.totals = totals_of(trials.counts);
  result.totals.cold_miss_share = trials.cold_miss_share;
  result.trial_values = values_of(trials.counts);
  result.objects = std::move(trials.objects);
  result.timeline = std::move(trials.timeline);

  double all_latency = 0;
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    const trace::Site& site_of_trace = sites[snapshot.sites[i].site];
    result.sites.push_back(site_result(snapshot.sites[i], i, site_of_trace, trials.counts, gpu));
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
    std::optional<std::uint64_t> decoded_blocks;
    Expected<Snapshot> snapshot;
    for (const Gpu& gpu : gpus) {
      const trace::Launch part = part_for(gpu, launch, options);
      if (decoded_blocks != part.blocks) {
        snapshot = Snapshot(); // not two at once
        snapshot = decode(trace, launch, part.blocks);
        if (!snapshot)
          return tl::unexpected(snapshot.error());
        decoded_blocks = part.blocks;
      }
      auto kernel = evaluate_launch(*snapshot, trace.sites(), part, gpu, options);
      if (!kernel)
        return tl::unexpected(kernel.error());
      kernel->snapshot.complete = end && end->complete;
      if (!kernel->snapshot.complete)
        kernel->snapshot.limit = fmt::format("cut short: {} of {} blocks asked for were seen",
                                             kernel->snapshot.blocks, part.blocks);
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
