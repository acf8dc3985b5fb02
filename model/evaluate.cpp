#include "model/evaluate.h"

#include "model/cache/l2_before.h"
#include "model/events.h"
#include "model/figures.h"
#include "model/gpu/machine_code.h"
#include "model/run_trials.h"
#include "model/snapshot/follow_code.h"
#include "model/snapshot/snapshot_size.h"
#include "trace/machine_code.h"

#include <algorithm>
#include <tuple>

namespace warplens::model {
namespace {

/// Returns the reason for the snapshot's size.
std::string limit_of(const trace::Launch& launch, const Gpu& gpu, const Occupancy& occupied,
                     const Options& options) {
  if (launch.blocks >= launch.grid.count())
    return "all of the grid";
  const double resident = double(occupied.blocks_per_sm) * gpu.sms;
  return fmt::format("{:.3g} × the resident blocks of {} SMs{}", double(launch.blocks) / resident, gpu.sms,
                     options.snapshot_blocks ? ", as asked for" : "");
}

/// A traced launch, decoded as far as each GPU in turn requires.
class DecodedLaunch {
public:
  DecodedLaunch(const trace::Reader& trace, const trace::Launch& launch, Accesses accesses)
      : trace_(trace), launch_(launch), accesses_(accesses), part_(launch), collected_(launch.blocks) {
    if (const auto end = trace.end_of(launch.id); end && end->blocks != 0)
      collected_ = std::min(collected_, end->blocks);
  }

  /// Decodes the blocks that the options name, or those that the GPU needs, whichever others are modelled.
  Expected<void> choose(const Gpu& gpu, const Options& options) {
    if (options.snapshot_blocks)
      return decode(*options.snapshot_blocks, gpu);
    if (auto decoded = decode(blocks_with(snapshot_threads(gpu).max, launch_), gpu); !decoded)
      return decoded;
    TRY_LET(occupied, occupancy(gpu, launch_));
    const std::uint64_t resident = std::uint64_t{occupied->blocks_per_sm} * gpu.sms;
    return decode(snapshot_blocks(snapshot_, part_, gpu, resident), gpu);
  }

  const Snapshot& snapshot() const { return snapshot_; }
  /// Returns the sites to which the snapshot has indices: the trace's, and behind them those of its spills.
  const std::vector<Site>& sites() const { return sites_; }
  /// Returns why only the warps' accesses are known; empty where their instructions are.
  const std::string& code_unknown() const { return code_unknown_; }
  /// Returns the launch with the chosen number of blocks.
  const trace::Launch& part() const { return part_; }

private:
  Expected<void> decode(std::uint64_t blocks, const Gpu& gpu) {
    part_.blocks = std::min(blocks, collected_);
    const trace::MachineCode* const code = code_for(gpu);
    const std::uint64_t cubin = code == nullptr ? 0 : code->cubin_id;
    if (decoded_blocks_ == part_.blocks && decoded_rules_ == gpu.lanes && decoded_cubin_ == cubin)
      return {};
    snapshot_ = Snapshot(); // frees the memory before another one is made
    sites_ = trace_.sites();
    TRY_LET(followed, follow(gpu, code));
    if (!*followed) {
      TRY_LET(decoded, model::decode(trace_, launch_, part_.blocks, gpu.lanes, accesses_));
      snapshot_ = std::move(*decoded);
    }
    decoded_blocks_ = part_.blocks;
    decoded_rules_ = gpu.lanes;
    decoded_cubin_ = cubin;
    return {};
  }

  /// Returns the code that the GPU would execute; null if that is not known.
  const trace::MachineCode* code_for(const Gpu& gpu) const {
    const auto* const code =
        trace::machine_code_for(launch_.machine_code, gpu.capability(), gpu.registers.max_per_thread);
    return code == nullptr || code->cubin.empty() ? nullptr : code;
  }

  /// Decodes the launch with its machine code; returns false, and says why, where that cannot be.
  Expected<bool> follow(const Gpu& gpu, const trace::MachineCode* code) {
    code_unknown_ = accesses_ != Accesses::all ? "there is no clock"
                    : !gpu.pipes               ? "the GPU's file has no [pipes]"
                    : code == nullptr          ? "the trace has no machine code of the kernel"
                                               : "";
    if (!code_unknown_.empty())
      return false;
    TRY_LET(decoded, model::decode(trace_, launch_, part_.blocks, gpu.lanes, Accesses::all_in_program_order));
    const auto spills = follow_code(*decoded, trace_.sites(), *code);
    if (!spills) {
      code_unknown_ = spills.error().message;
      return false;
    }
    sites_.insert(sites_.end(), spills->begin(), spills->end());
    snapshot_ = std::move(*decoded);
    return true;
  }

  const trace::Reader& trace_;
  const trace::Launch& launch_;
  Accesses accesses_;
  trace::Launch part_;
  std::uint64_t collected_; ///< blocks, from the first on
  std::optional<std::uint64_t> decoded_blocks_;
  LaneRules decoded_rules_;
  std::uint64_t decoded_cubin_ = 0;
  std::string code_unknown_;
  Snapshot snapshot_;
  std::vector<Site> sites_;
};

/// Returns the GPU without the figures that are drawn and that nothing takes: known code has no
/// issue.cycles_per_access. Machines that differ in no other figure are one.
Gpu without_unused_draws(Gpu gpu, const Snapshot& snapshot) {
  if (snapshot.code)
    std::erase(gpu.drawn, "issue.cycles_per_access");
  if (gpu.drawn.empty())
    gpu.machines.clear();
  return gpu;
}

/// Sets what the launch's warps execute, and the events that cost energy.
void put_events(KernelResult& result, std::span<const TrialCounts> trials, const Snapshot& snapshot,
                const trace::Launch& launch, const Gpu& gpu) {
  result.executed = executed_code(trials, snapshot, gpu);
  ExecutedWork work = executed_work(snapshot, launch.block.count());
  result.events = Events{work.all, memory_events(trials, snapshot, gpu)};
  for (LineTime& line : result.lines)
    if (const auto found = work.lines.find({line.file, line.line}); found != work.lines.end())
      line.work = found->second;
}

} // namespace

Expected<KernelResult> evaluate_launch(const Snapshot& snapshot, const std::vector<Site>& sites,
                                       const trace::Launch& launch, const Gpu& gpu_of_file,
                                       const Options& options, std::span<const L2> before) {
  const Gpu gpu = without_unused_draws(gpu_of_file, snapshot);
  TRY_LET(occupied, occupancy(gpu, launch));
  Trials trials = run_trials(snapshot, sites, launch, gpu, *occupied, options, before);

  KernelResult result;
  result.name = launch.kernel;
  result.gpu = gpu.id;
  result.accuracy = gpu.accuracy;
  result.grid = launch.grid;
  result.block = launch.block;
  result.occupancy = {gpu.sms, occupied->blocks_per_sm, occupied->warps_per_sm, occupied->limited_by};
  result.compiled = compiled_for(gpu, launch);
  result.snapshot.blocks = snapshot.blocks_seen;
  result.snapshot.warp_accesses = snapshot.warp_accesses;
  result.snapshot.transactions = snapshot.transactions;
  result.snapshot.limit = limit_of(launch, gpu, *occupied, options);
  result.trials.run = std::uint32_t(trials.counts.size());
  result.trials.converged = trials.known_well;
  result.trials.stopped_by = trials.enough ? StoppedBy::confidence : StoppedBy::limit;
  if (std::ranges::any_of(trials.counts, [](const TrialCounts& trial) { return trial.machine != 0; }))
    result.trials.drawn = gpu.drawn;
  result.time = kernel_time(trials.counts, snapshot, launch, gpu);
  result.warps = warp_time(trials.counts, gpu);
  result.lines = line_times(trials.counts, snapshot, sites);
  if (snapshot.code && result.time)
    put_events(result, trials.counts, snapshot, launch, gpu);
  result.totals = totals_of(trials.counts, gpu);
  result.totals.cold_miss_share = trials.cold_miss_share;
  result.totals.dram_latencies = std::move(trials.dram_latencies);
  result.trial_values = values_of(trials.counts);
  result.objects = std::move(trials.objects);
  result.timeline = std::move(trials.timeline);

  double all_latency = 0;
  const std::vector<TimeSums> sums = time_sums(trials.counts);
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    const Site& site_of_trace = sites[snapshot.sites[i].site];
    result.sites.push_back(site_result(snapshot.sites[i], i, site_of_trace, trials.counts, gpu));
    SiteResult& site = result.sites.back();
    site.time = site_time(snapshot.sites[i], i, trials.counts, sums, result.time);
    if (result.events && snapshot.sites[i].barriers == 0)
      site.events = memory_events(snapshot.sites[i], i, trials.counts, gpu);
    if (site.latency_ns)
      all_latency += double(site.executions) * site.latency_ns->mean;
  }
  for (SiteResult& site : result.sites)
    if (site.latency_ns && all_latency > 0)
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

  MemoryHistory history(lines_that_matter(gpus));
  std::uint64_t executed = 0, probed = 0;
  for (const trace::Launch& launch : trace.launches()) {
    const auto end = trace.end_of(launch.id);
    if (end) {
      executed += end->executed_accesses;
      probed += end->probed_accesses;
    }
    if (!options.cold)
      history.add_uses_before(trace, launch);
    DecodedLaunch decoded(trace, launch, options.without_clock ? Accesses::of_caches : Accesses::all);
    for (const Gpu& gpu : gpus) {
      TRY(decoded.choose(gpu, options));
      const trace::Launch& part = decoded.part();
      const L2Before before = options.cold ? L2Before()
                                           : l2_before(history, decoded.snapshot(), gpu,
                                                       options.without_clock ? 1 : gpu.l2.partitions);
      TRY_LET(kernel, evaluate_launch(decoded.snapshot(), decoded.sites(), part, gpu, options, before.l2));
      kernel->l2_start = before.start;
      kernel->code_unknown = decoded.code_unknown();
      kernel->snapshot.complete = end && end->complete;
      if (!kernel->snapshot.complete)
        kernel->snapshot.limit = fmt::format("cut short: {} of {} blocks asked for were seen",
                                             kernel->snapshot.blocks, part.blocks);
      for (const trace::KernelLaunches& counted : trace.kernel_launches())
        if (counted.symbol == launch.symbol)
          kernel->launches += counted.launches;
      result.kernels.push_back(std::move(*kernel));
    }
    if (!options.cold && &launch != &trace.launches().back())
      TRY(history.add_launch(trace, launch));
  }
  if (executed != 0)
    result.executed_accesses_probed = double(probed) / double(executed);
  return result;
}

} // namespace warplens::model
