#include "model/evaluate.h"

#include "model/cache/l2_before.h"
#include "model/code_result.h"
#include "model/decoded_launch.h"
#include "model/events.h"
#include "model/figures.h"
#include "model/gpu/known_times.h"
#include "model/gpu/machine_code.h"
#include "model/launch_shares.h"
#include "model/run_trials.h"
#include "model/share_kernels.h"
#include "model/sharing_profile.h"
#include "model/snapshot/follow_code.h"
#include "numeric/statistics.h"
#include "result/headroom.h"
#include "result/no_time.h"

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

/// Returns the GPU without the figures that are drawn and that nothing takes: known code has no
/// issue.cycles_per_access. Machines that differ in no other figure are one.
Gpu without_unused_draws(Gpu gpu, const Snapshot& snapshot) {
  if (snapshot.code)
    std::erase(gpu.drawn, "issue.cycles_per_access");
  if (gpu.drawn.empty())
    gpu.machines.clear();
  return gpu;
}

/// Adds what a part of the machine misses to the intervals.
void widen_for_part(KernelResult& result) {
  if (result.time)
    for (Statistic* const time : {&result.time->cycles, &result.time->microseconds})
      widen(*time, time_error_of_part * time->mean);
  for (std::optional<Statistic>* const hits :
       {&result.totals.l1_read_hit_rate, &result.totals.l2_read_hit_rate})
    if (*hits)
      widen(**hits, hit_error_of_part);
}

/// Adds what iterations miss that were left out and are like those measured in their place: by as much as
/// others, which were not measured, did.
void widen_for_left_out(KernelResult& result, std::span<const TrialCounts> trials) {
  double error = 0;
  for (const TrialCounts& trial : trials)
    error += trial.time.left_out_error / double(trials.size());
  if (result.time)
    for (Statistic* const time : {&result.time->cycles, &result.time->microseconds})
      widen(*time, error * time->mean);
}

/// Returns the rates and limits that reports hold a kernel against.
Machine machine_of(const Gpu& gpu) {
  Machine machine;
  machine.dram_bytes_per_ns = gpu.dram.bytes_per_ns();
  machine.reads_reach = gpu.dram.reads_reach();
  machine.copies_reach = gpu.dram.copies_reach();
  machine.l2_bytes_per_ns = gpu.l2.bytes_per_ns;
  machine.l2_bytes = gpu.l2_bytes;
  machine.schedulers = gpu.issue.schedulers;
  machine.turnover_cycles = gpu.issue.turnover_cycles;
  machine.sm = sm_limits(gpu);
  return machine;
}

/// Returns the result with those figures of its accesses that need no trials.
KernelResult with_counts(KernelResult result, const Snapshot& snapshot, const std::vector<Site>& sites) {
  for (const SiteSummary& summary : snapshot.sites)
    if (summary.executions != 0)
      result.sites.push_back(site_counts(summary, sites[summary.site]));
  return result;
}

/// Sets what the launch's warps execute, and the events that cost energy.
void put_events(KernelResult& result, std::span<const TrialCounts> trials, const Snapshot& snapshot,
                const trace::Launch& launch, const Gpu& gpu) {
  result.executed = executed_code(trials, snapshot, gpu);
  ExecutedInstructions work = executed_instructions(snapshot, launch.block.count());
  result.events = Events{work.all, memory_events(trials, snapshot, gpu), work.operations};
  for (LineTime& line : result.lines)
    if (const auto found = work.lines.find({line.file, line.line}); found != work.lines.end())
      line.work = found->second;
}

/// Sets how the code was executed beside the program, or why its warps' ways are inferred. `execution`: null
/// if there is none for this code.
void put_execution(ExecutedCode& executed, const trace::Execution* execution) {
  if (execution == nullptr)
    executed.inferred = "the trace has no execution of this code";
  else if (!execution->is_complete())
    executed.inferred = execution->failure;
  else
    executed.execution = {execution->blocks, execution->words, execution->different_words,
                          execution->different_atomics, execution->largest_difference};
}

/// Builds the scale model where the options want a first answer, and sets how many trials it has: as many as
/// an interval needs, or as there is time for.
Expected<std::optional<ScaleModel>> scale_model(const DecodedLaunch& launch, const Gpu& gpu,
                                                const MemoryHistory* history, Options& options) {
  if (options.first_answer_work == 0 || options.without_clock)
    return std::nullopt;
  const std::uint64_t all = work_of(launch.snapshot());
  const std::uint32_t divisor =
      divisor_for(options.first_answer_work / few_trials, all, launch.snapshot(), gpu);
  options.trials = std::uint32_t(std::clamp<std::uint64_t>(
      options.first_answer_work * divisor / std::max<std::uint64_t>(all, 1), 2, few_trials));
  if (divisor == 1)
    return std::nullopt;
  TRY_LET(occupied, occupancy(gpu, launch.part()));
  return build_scale_model(divisor, launch.snapshot(), gpu, *occupied, history,
                           Random(options.seed, launch.part().id, few_trials));
}

/// Returns why the trials' time would not be the launch's; empty if it would. Where blocks are left out, SMs
/// hold fewer than they would, and the time is that of another machine.
std::string why_time_is_unknown(const Snapshot& snapshot, bool is_complete, const trace::Launch& launch,
                                const Occupancy& occupied, const Gpu& gpu) {
  if (!is_complete)
    return "the snapshot was cut before all of its blocks had ended";
  const std::uint64_t at_once =
      std::min(launch.grid.count(), std::uint64_t{occupied.blocks_per_sm} * gpu.sms);
  return snapshot.blocks_seen < at_once
             ? fmt::format("the snapshot was cut after {} of {} blocks, and {} run at once",
                           snapshot.blocks_seen, launch.grid.count(), at_once)
             : "";
}

/// Returns why what the warps executed would be a guess; empty if it was executed, or follows from accesses
/// all of which are known. `end`: of the launch; null: not known.
std::string why_way_is_unknown(const DecodedLaunch& decoded, const trace::LaunchEnd* end) {
  constexpr double nearly_all = 0.9995;
  const trace::Execution* const execution = decoded.execution();
  if (execution != nullptr && execution->is_complete())
    return {};
  const bool was_tried = execution != nullptr;
  const double probed = end == nullptr || end->executed_accesses == 0
                            ? 1
                            : double(end->probed_accesses) / double(end->executed_accesses);
  const double matched = decoded.snapshot().code ? decoded.snapshot().code->matched : 0;
  std::string why;
  if (probed < (was_tried ? nearly_all : min_followed_share))
    why = fmt::format("{:.3g} % of its accesses have no probe", 100 * (1 - probed));
  else if (was_tried && !decoded.code_unknown().empty())
    why = decoded.code_unknown();
  else if (was_tried && matched < nearly_all)
    why = fmt::format("{:.3g} % of its accesses are not found in the code", 100 * (1 - matched));
  if (!why.empty())
    why += was_tried ? fmt::format(", and its machine code was not executed: {}", execution->failure)
                     : ", and the trace has no execution of its machine code";
  return why;
}

/// Withholds a time that is less than the work of the launch takes at the least: one of the two is wrong.
void check_against_roofline(KernelResult& kernel) {
  constexpr double least = 0.9; // extrapolated bytes and times differ by a few hundredths
  const std::optional<Headroom> headroom = headroom_of(kernel);
  if (headroom && headroom->times_roofline < least)
    withhold_time(kernel, fmt::format("the {:.3g} µs of the trials are less than the {:.3g} µs that the work "
                                      "of the launch takes at the least: the snapshot does not stand for it",
                                      kernel.time->microseconds.mean, headroom->roofline_us));
}

/// Returns the share of the snapshot's accesses that trials replay, where iterations of loops are left out.
double share_of_replayed(const Snapshot& snapshot) {
  double replayed = 0;
  for (const Warp& warp : snapshot.warps)
    replayed += double(std::ranges::count_if(
        warp.accesses, [](const Access& access) { return access.kind != AccessKind::barrier; }));
  return replayed / std::max(1.0, double(snapshot.warp_accesses));
}

/// Returns the kernel of the first answer where it is to stand, if there is one.
const KernelResult* first_answer(const Options& options) {
  const bool is_known = options.first_answer != nullptr && options.number < options.first_answer->size();
  const bool is_enough =
      (options.refines && !options.refines(options.number)) || (options.stop && options.stop());
  return is_known && is_enough ? &(*options.first_answer)[options.number] : nullptr;
}

/// Models the launch on the GPU. `history`: null if launches begin with an empty L2.
Expected<KernelResult> evaluate_on(const Gpu& gpu, DecodedLaunch& decoded, const trace::AccessSource& trace,
                                   const MemoryHistory* history, Options options) {
  if (const KernelResult* const known = first_answer(options))
    return *known;
  TRY(decoded.choose(gpu, options));
  const trace::Launch& part = decoded.part();
  TRY_LET(scale, scale_model(decoded, gpu, history, options));
  const std::uint32_t partitions = options.without_clock ? 1 : gpu.l2.partitions;
  const L2Before before = *scale               ? std::move((*scale)->before)
                          : history == nullptr ? L2Before()
                                               : l2_before(*history, decoded.snapshot(), gpu, partitions);
  auto kernel = evaluate_launch(decoded.snapshot(), decoded.sites(), part, gpu, options, before.l2,
                                *scale ? &**scale : nullptr);
  if (!kernel) {
    const KernelResult* const known = first_answer(options);
    return known != nullptr ? Expected<KernelResult>(*known) : kernel;
  }
  kernel->l2_start = before.start;
  if (options.l2_begin == L2Begin::warm && before.start.warm)
    kernel->l2_start->why += "; this launch is one of them, as if it were repeated";
  kernel->code_unknown = decoded.code_unknown();
  const auto end = trace.end_of(part.id);
  if (kernel->executed && !options.infers_ways)
    put_execution(*kernel->executed, decoded.execution());
  kernel->snapshot.complete = end && end->complete;
  TRY_LET(occupied, occupancy(gpu, part));
  std::string why =
      decoded.lacks_iterations()
          ? "the trace leaves out iterations, which only its machine code tells: record it with --whole-loops"
          : why_time_is_unknown(decoded.snapshot(), kernel->snapshot.complete, part, *occupied, gpu);
  if (why.empty())
    why = why_times_are_unknown(gpu);
  if (why.empty() && !options.infers_ways)
    why = why_way_is_unknown(decoded, end ? &*end : nullptr);
  if (kernel->time && !why.empty())
    withhold_time(*kernel, std::move(why));
  check_against_roofline(*kernel);
  if (!kernel->snapshot.complete)
    kernel->snapshot.limit =
        fmt::format("cut short: {} of {} blocks asked for were seen", kernel->snapshot.blocks, part.blocks);
  if (decoded.snapshot().leaves_out)
    kernel->snapshot.limit += fmt::format("; {:.2g} % of the accesses are replayed, as loops repeat",
                                          100 * share_of_replayed(decoded.snapshot()));
  if (decoded.windows().size() > 1) {
    kernel->snapshot.windows = decoded.windows();
    kernel->snapshot.limit += fmt::format(
        ", in {} windows across the grid, as the work of its blocks differs", decoded.windows().size());
  }
  return kernel;
}

} // namespace

Expected<KernelResult> evaluate_launch(const Snapshot& snapshot, const std::vector<Site>& sites,
                                       const trace::Launch& launch, const Gpu& gpu_of_file,
                                       const Options& options, std::span<const L2> before,
                                       const ScaleModel* scale) {
  const Gpu gpu = without_unused_draws(gpu_of_file, snapshot);
  TRY_LET(occupied, occupancy(gpu, launch));
  KernelResult result;
  result.name = launch.kernel;
  result.gpu = gpu.id;
  result.sm_clock_mhz = gpu.clock_mhz;
  result.accuracy = gpu.accuracy;
  result.grid = launch.grid;
  result.block = launch.block;
  result.occupancy = {gpu.sms, occupied->blocks_per_sm, occupied->warps_per_sm, occupied->limited_by,
                      std::uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes};
  result.machine = machine_of(gpu);
  result.compiled = compiled_for(gpu, launch);
  result.snapshot.blocks = snapshot.blocks_seen;
  result.snapshot.warp_accesses = snapshot.warp_accesses;
  result.snapshot.transactions = snapshot.transactions;
  result.snapshot.limit = limit_of(launch, gpu, *occupied, options);
  if (options.before_trials && options.ranks.rank == 0)
    options.before_trials(with_counts(result, snapshot, sites));
  Trials trials = run_trials(snapshot, sites, launch, gpu, *occupied, options, before, scale);
  if (trials.counts.size() < 2)
    return fail("{}: no two trials ended", launch.kernel);

  result.trials.run = std::uint32_t(trials.counts.size());
  result.trials.converged = trials.known_well;
  result.trials.stopped_by = trials.enough    ? StoppedBy::confidence
                             : trials.stopped ? StoppedBy::request
                                              : StoppedBy::limit;
  result.trials.divisor = scale != nullptr ? scale->divisor : 1;
  if (std::ranges::any_of(trials.counts, [](const TrialCounts& trial) { return trial.machine != 0; }))
    result.trials.drawn = gpu.drawn;
  result.time = kernel_time(trials.counts, snapshot, launch, gpu);
  result.warps = warp_time(trials.counts, gpu);
  result.lines = line_times(trials.counts, snapshot, sites);
  if (snapshot.code && result.time) {
    put_events(result, trials.counts, snapshot, launch, gpu);
    result.code = code_result(trials.counts, snapshot, sites);
  }
  result.totals = totals_of(trials.counts, gpu);
  result.totals.cold_miss_share = trials.cold_miss_share;
  result.totals.dram_latencies = std::move(trials.dram_latencies);
  result.trial_values = values_of(trials.counts);
  result.trial_values.microseconds = launch_times(trials.counts, launch, gpu);
  result.objects = std::move(trials.objects);
  result.timeline = std::move(trials.timeline);

  double all_latency = 0;
  const std::vector<TimeSums> sums = time_sums(trials.counts);
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i) {
    if (snapshot.sites[i].executions == 0)
      continue; // the machine code has it, and no warp executes it, or the source alone has it
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
  if (scale != nullptr)
    widen_for_part(result);
  if (snapshot.leaves_out)
    widen_for_left_out(result, trials.counts);
  if (options.sharing && !options.without_clock)
    result.sharing = sharing_profile(snapshot, launch, gpu, *occupied, options, result);
  std::stable_sort(result.sites.begin(), result.sites.end(), [](const SiteResult& a, const SiteResult& b) {
    return std::tie(a.site.file, a.site.line, a.site.column) <
           std::tie(b.site.file, b.site.line, b.site.column);
  });
  return result;
}

Expected<Result> evaluate(const trace::AccessSource& trace, const std::vector<Gpu>& gpus,
                          const Options& options) {
  if (options.trials < 2)
    return fail("{} trial is too few: an interval needs at least 2", options.trials);
  Result result;
  result.program = trace.program().name;
  result.seed = options.seed;
  result.trace_truncated = trace.truncated();

  const auto is_wanted = [&](const trace::Launch& launch) {
    return !options.wants_launch || options.wants_launch(launch);
  };
  const auto wanted = std::size_t(std::ranges::count_if(trace.launches(), is_wanted));
  const KernelShare share(wanted * gpus.size(), options.ranks);
  Options share_options = options;
  if (share.divides_kernels())
    share_options.ranks = {};

  MemoryHistory history(lines_that_matter(gpus));
  const std::vector<LaunchShare> shares = launch_shares(trace);
  std::size_t number = 0;
  std::uint64_t executed = 0, probed = 0;
  for (const trace::Launch& launch : trace.launches()) {
    const auto end = trace.end_of(launch.id);
    if (end) {
      executed += end->executed_accesses;
      probed += end->probed_accesses;
    }
    if (number == wanted * gpus.size())
      continue; // no wanted launch is left that could find anything in the L2
    if (options.l2_begin != L2Begin::cold)
      history.add_uses_before(trace, launch);
    if (options.l2_begin == L2Begin::warm)
      TRY(history.add_launch(trace, launch));
    trace::Launch assumed = launch;
    if (options.registers && assumed.registers_per_thread == 0)
      assumed.registers_per_thread = *options.registers;
    DecodedLaunch decoded(trace, assumed, options.without_clock ? Accesses::cached : Accesses::all);
    for (const Gpu& gpu : is_wanted(launch) ? gpus : std::vector<Gpu>()) {
      share_options.number = number++;
      if (!share.is_mine(share_options.number))
        continue;
      TRY_LET(kernel, evaluate_on(gpu, decoded, trace, options.l2_begin == L2Begin::cold ? nullptr : &history,
                                  share_options));
      set_launch(*kernel, launch.id, shares[std::size_t(&launch - trace.launches().data())]);
      result.kernels.push_back(std::move(*kernel));
    }
    if (options.l2_begin == L2Begin::left && &launch != &trace.launches().back())
      TRY(history.add_launch(trace, launch));
  }
  TRY_LET(kernels, share.join(std::move(result.kernels)));
  result.kernels = std::move(*kernels);
  if (executed != 0)
    result.executed_accesses_probed = double(probed) / double(executed);
  return result;
}

} // namespace warplens::model
