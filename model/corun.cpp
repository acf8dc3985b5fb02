#include "model/corun.h"

#include "model/clock/corun_trial.h"
#include "model/decoded_launch.h"
#include "model/events.h"
#include "model/gpu/known_times.h"
#include "model/gpu/mig.h"
#include "model/replay/observers/kernels_over_time.h"
#include "model/snapshot/beside.h"
#include "numeric/statistics.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace warplens::model {
namespace {

/// A kernel in one trial, alone or beside the others.
struct KernelTrial {
  Cycle cycles = 0, first_block = 0;
  double issued = 0;            ///< instructions, until all kernels had ended once
  std::optional<double> l1, l2; ///< hit rates of its loads
};
/// The outcome of one trial of all kernels: each alone, or all together.
struct Trial {
  std::vector<KernelTrial> kernels;
  std::vector<ByResource> busy;   ///< of each kernel alone; one entry for all of them together
  std::vector<Activity> activity; ///< likewise, without SMs; what is not known is 0
};

/// Returns the share of hits of the launch's loads; nothing without loads.
std::optional<double> hit_rate(const TrialCounts& counts, const LaunchRange& range,
                               Lookups TrialCounts::Site::* of) {
  Lookups sum;
  for (std::uint32_t site = range.first_site; site < range.first_site + range.sites; ++site)
    sum += counts.sites[site].*of;
  return sum.all == 0 ? std::nullopt : std::optional(double(sum.hits) / double(sum.all));
}

KernelTrial kernel_trial(const CorunCounts& counts, const JoinedSnapshot& joined, std::size_t k) {
  return {counts.cycles[k], counts.first_block[k], double(counts.issued[k]),
          hit_rate(counts.counts, joined.launches[k], &TrialCounts::Site::l1),
          hit_rate(counts.counts, joined.launches[k], &TrialCounts::Site::l2_reads)};
}

/// Returns the shares of the time in which resources are busy.
ByResource busy_shares(const CorunCounts& counts) {
  const double cycles = std::max(double(std::ranges::max(counts.cycles)), double(counts.counts.time.cycles));
  ByResource busy{};
  for (std::size_t resource = 0; resource < resource_count; ++resource)
    busy[resource] = std::min(1.0, counts.counts.time.mean_busy[resource] / cycles);
  return busy;
}

std::optional<double> mean_of(std::span<const Trial> trials, std::size_t k,
                              std::optional<double> KernelTrial::* value) {
  double sum = 0;
  for (const Trial& trial : trials) {
    const std::optional<double> one = trial.kernels[k].*value;
    if (!one)
      return std::nullopt;
    sum += *one / double(trials.size());
  }
  return sum;
}

ByResource mean_busy(std::span<const Trial> trials, std::size_t entry) {
  ByResource mean{};
  for (const Trial& trial : trials)
    for (std::size_t resource = 0; entry < trial.busy.size() && resource < resource_count; ++resource)
      mean[resource] += trial.busy[entry][resource] / double(trials.size());
  return mean;
}

class Corun {
public:
  Corun(const Gpu& gpu, const CorunOptions& options) : gpu_(gpu), options_(options) {}

  Expected<void> decode(std::span<const CorunLaunch> launches) {
    std::vector<const Snapshot*> snapshots;
    Options decoding;
    decoding.snapshot_blocks = options_.snapshot_blocks;
    for (const CorunLaunch& one : launches) {
      decoded_.emplace_back(*one.trace, *one.launch, Accesses::all);
      TRY(decoded_.back().choose(gpu_, decoding));
      TRY(occupancy(gpu_, decoded_.back().part()));
      const Snapshot* const snapshot = &decoded_.back().snapshot();
      if (snapshot->blocks.empty())
        return fail("{}: the launch has no access in its snapshot", one.launch->kernel);
      if (snapshot->leaves_out)
        return fail(
            "{}: the trace leaves out iterations, and kernels beside each other need all of them: record "
            "it with --whole-loops",
            one.launch->kernel);
      TRY_LET(alone, join(std::span(&snapshot, 1), true));
      alone_snapshots_.push_back(std::move(*alone));
      snapshots.push_back(snapshot);
      blocks_.push_back(block_resources(gpu_, *one.launch));
      work_.push_back(snapshot->code ? executed_instructions(*snapshot, one.launch->block.count()).all
                                     : ByInstructionKind{});
      names_.push_back(one.launch->kernel);
      const CorunKernel everywhere{blocks_.back(), 0, gpu_.sms};
      if (!can_run(std::span(&everywhere, 1), gpu_))
        return fail("{}: a block has no room on {}", names_.back(), gpu_.id);
    }
    TRY_LET(together, join(snapshots, options_.share_memory));
    together_ = std::move(*together);
    return {};
  }

  void run_alone() {
    alone_ = run_trials(names_.size(), [&](std::size_t k, std::uint32_t trial, Trial& into) {
      const CorunKernel everywhere{blocks_[k], 0, gpu_.sms};
      const CorunCounts counts = run_corun_trial(alone_snapshots_[k], machine(gpu_, trial),
                                                 std::span(&everywhere, 1), {}, random(k, trial));
      into.kernels[k] = kernel_trial(counts, alone_snapshots_[k], 0);
      into.busy[k] = busy_shares(counts);
      into.activity[k] = activity_of(counts, alone_snapshots_[k], {{k, 1}});
    });
  }

  Expected<Places> places_of(const Arrangement& arrangement) const {
    auto places = arrange(arrangement, blocks_, gpu_);
    if (places && places->what_if.own_queues && !together_.snapshot.code)
      return fail("queues of their own take kernels whose machine code is known");
    return places;
  }

  CorunResult run(const Arrangement& arrangement, const Places& places) const {
    const std::vector<Trial> trials =
        places.division == Division::mig ? run_in_instances(places) : run_together(places);
    CorunResult result = result_of(places, trials);
    result.policy = arrangement.policy;
    if (options_.timeline_bins != 0 && places.division != Division::mig)
      result.timeline = timeline_of(places, trials.front());
    return result;
  }

private:
  using RunOne = std::function<void(std::size_t run, std::uint32_t trial, Trial& into)>;

  /// Calls run_one for each of `runs` runs of each trial, side by side.
  std::vector<Trial> run_trials(std::size_t runs, const RunOne& run_one) const {
    std::vector<Trial> trials(options_.trials, {std::vector<KernelTrial>(names_.size()),
                                                std::vector<ByResource>(runs), std::vector<Activity>(runs)});
    const int cores = tbb::info::default_concurrency();
    tbb::task_arena arena(options_.threads == 0 ? cores : int(std::min(options_.threads, unsigned(cores))));
    arena.execute([&] {
      tbb::parallel_for(std::size_t{0}, runs * trials.size(), [&](std::size_t number) {
        run_one(number % runs, std::uint32_t(number / runs), trials[number / runs]);
      });
    });
    return trials;
  }

  static const Gpu& machine(const Gpu& gpu, std::uint32_t trial) {
    return gpu.machines.empty() ? gpu : gpu.machines[trial / 2 % gpu.machines.size()];
  }
  Random random(std::size_t run, std::uint32_t trial) const {
    return Random(options_.seed, std::uint32_t(run), trial);
  }

  std::vector<Trial> run_together(const Places& places) const {
    return run_trials(1, [&](std::size_t, std::uint32_t trial, Trial& into) {
      const CorunCounts counts = run_corun_trial(together_, machine(gpu_, trial), places.kernels,
                                                 places.what_if, random(names_.size(), trial));
      for (std::size_t k = 0; k < names_.size(); ++k)
        into.kernels[k] = kernel_trial(counts, together_, k);
      into.busy.front() = busy_shares(counts);
      std::vector<Laps> laps;
      for (std::size_t k = 0; k < names_.size(); ++k)
        laps.push_back({k, laps_of(alone_[trial].kernels[k], into.kernels[k])});
      into.activity.front() = activity_of(counts, together_, laps);
    });
  }

  /// A kernel, by number, and how often it ran.
  struct Laps {
    std::size_t kernel = 0;
    double laps = 1;
  };
  static double laps_of(const KernelTrial& alone, const KernelTrial& beside) {
    return alone.issued == 0 ? 1 : beside.issued / alone.issued;
  }

  /// Returns what the launches of a joined snapshot did in a trial. The counts have all laps, but for the
  /// passes over shared memory and the constants, of which the snapshot has those of one.
  Activity activity_of(const CorunCounts& counts, const JoinedSnapshot& joined,
                       const std::vector<Laps>& laps) const {
    Activity activity;
    const TrialCounts& trial_counts = counts.counts;
    activity.memory = memory_events(std::span(&trial_counts, 1), joined.snapshot, gpu_);
    double& shared = activity.memory[std::size_t(MemoryEvent::shared_pass)];
    double& constants = activity.memory[std::size_t(MemoryEvent::constant_access)];
    shared = constants = 0;
    for (std::size_t i = 0; i < laps.size(); ++i) {
      const LaunchRange& range = joined.launches[i];
      for (std::uint32_t site = range.first_site; site < range.first_site + range.sites; ++site) {
        shared += double(joined.snapshot.sites[site].bank_wavefronts) * laps[i].laps;
        constants += double(joined.snapshot.sites[site].constant_requests) * laps[i].laps;
      }
      for (std::size_t kind = 0; kind < instruction_kind_count; ++kind) {
        const Instructions& once = work_[laps[i].kernel][kind];
        activity.instructions[kind] += {once.warps * laps[i].laps, once.lanes * laps[i].laps};
      }
    }
    activity.seconds = double(std::ranges::max(counts.cycles)) * gpu_.ns_per_cycle() * 1e-9;
    return activity;
  }

  /// Runs the first trial again, now that its length is known.
  CorunTimeline timeline_of(const Places& places, const Trial& first) const {
    std::vector<std::uint32_t> first_sites;
    for (const LaunchRange& launch : together_.launches)
      first_sites.push_back(launch.first_site);
    KernelsOverTime recorder(std::move(first_sites),
                             std::ranges::max(first.kernels, {}, &KernelTrial::cycles).cycles,
                             options_.timeline_bins, gpu_.ns_per_cycle());
    run_corun_trial(together_, machine(gpu_, 0), places.kernels, places.what_if, random(names_.size(), 0),
                    &recorder);
    return std::move(recorder).timeline();
  }

  /// Runs each kernel in its instance, which shares nothing with the others.
  std::vector<Trial> run_in_instances(const Places& places) const {
    std::vector<Gpu> parts;
    for (const Gpu::Instance& instance : places.instances)
      parts.push_back(part_of(gpu_, instance));
    std::vector<Trial> trials =
        run_trials(names_.size(), [&](std::size_t k, std::uint32_t trial, Trial& into) {
          const CorunCounts counts =
              run_corun_trial(alone_snapshots_[k], machine(parts[k], trial), std::span(&places.kernels[k], 1),
                              places.what_if, random(k, trial));
          into.kernels[k] = kernel_trial(counts, alone_snapshots_[k], 0);
          into.activity[k] = activity_of(counts, alone_snapshots_[k], {{k, 1}});
        });
    for (Trial& trial : trials) {
      trial.busy.clear(); // there is no resource of all together
      // An instance goes on while others run, and nothing of it changes.
      const auto longest = double(std::ranges::max(trial.kernels, {}, &KernelTrial::cycles).cycles);
      Activity together;
      together.seconds = longest * gpu_.ns_per_cycle() * 1e-9;
      for (std::size_t k = 0; k < names_.size(); ++k) {
        const double laps = longest / double(trial.kernels[k].cycles);
        trial.kernels[k].issued *= laps;
        add(together, trial.activity[k], laps);
      }
      trial.activity = {together};
    }
    return trials;
  }

  /// Adds the events of some laps.
  static void add(Activity& to, const Activity& lap, double laps) {
    for (std::size_t kind = 0; kind < instruction_kind_count; ++kind)
      to.instructions[kind] += {lap.instructions[kind].warps * laps, lap.instructions[kind].lanes * laps};
    for (std::size_t event = 0; event < memory_event_count; ++event)
      to.memory[event] += lap.memory[event] * laps;
  }

  /// Returns the mean of an entry's activity over trials; nothing where a kernel's code is not known.
  std::optional<Activity> mean_activity(std::span<const Trial> trials, std::size_t entry,
                                        double sms_in_use) const {
    if (!together_.snapshot.code)
      return std::nullopt;
    Activity mean;
    std::vector<double> seconds;
    for (const Trial& trial : trials) {
      add(mean, trial.activity[entry], 1 / double(trials.size()));
      seconds.push_back(trial.activity[entry].seconds);
    }
    const Statistic time_statistic = summarize(seconds);
    mean.seconds = time_statistic.mean;
    mean.relative_deviation =
        time_statistic.mean > 0 ? time_statistic.std_deviation / time_statistic.mean : 0;
    mean.sms_in_use = std::min(sms_in_use, double(gpu_.sms));
    mean.sms_idle = gpu_.sms - mean.sms_in_use;
    return mean;
  }

  template <class Value> Statistic statistic(std::span<const Trial> trials, Value&& value) const {
    std::vector<double> values;
    for (std::size_t trial = 0; trial < trials.size(); ++trial)
      values.push_back(value(alone_[trial].kernels, trials[trial].kernels));
    return summarize(values);
  }

  /// Returns the statistic of a ratio, whose interval is that of its logarithm: no ratio is below 0.
  template <class Value> Statistic ratio(std::span<const Trial> trials, Value&& value) const {
    Statistic ratio_statistic = statistic(trials, value);
    const Statistic log_statistic = statistic(
        trials, [&](const auto& alone, const auto& beside) { return std::log(value(alone, beside)); });
    for (std::size_t end : {0, 1})
      ratio_statistic.ci95[end] = std::exp(log_statistic.ci95[end]);
    return ratio_statistic;
  }

  CorunResult result_of(const Places& places, std::span<const Trial> trials) const {
    using Kernels = std::vector<KernelTrial>;
    CorunResult result;
    result.gpu = gpu_.id;
    result.sm_clock_mhz = gpu_.clock_mhz;
    result.division = places.division;
    result.what_if = places.what_if;
    result.trials = options_.trials;
    const double us = gpu_.ns_per_cycle() / 1000;
    const auto slow_down = [](const Kernels& alone, const Kernels& beside, std::size_t k) {
      return double(beside[k].cycles) / double(alone[k].cycles);
    };
    double sms_in_use = 0;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      CorunKernelResult& kernel = result.kernels.emplace_back();
      kernel.name = names_[k];
      kernel.blocks = together_.launches[k].blocks;
      kernel.sms = places.kernels[k].sms;
      kernel.max_per_sm = places.division == Division::blocks ? places.kernels[k].max_per_sm : 0;
      kernel.slices = places.division == Division::mig ? places.instances[k].slices : 0;
      kernel.alone_us = statistic(
          trials, [&](const Kernels& alone, const Kernels&) { return double(alone[k].cycles) * us; });
      kernel.beside_us = statistic(
          trials, [&](const Kernels&, const Kernels& beside) { return double(beside[k].cycles) * us; });
      kernel.slow_down = ratio(
          trials, [&](const Kernels& alone, const Kernels& beside) { return slow_down(alone, beside, k); });
      for (const Trial& trial : trials)
        kernel.waits_us += double(trial.kernels[k].first_block) * us / double(trials.size());
      kernel.l1_alone = mean_of(alone_, k, &KernelTrial::l1);
      kernel.l1_beside = mean_of(trials, k, &KernelTrial::l1);
      kernel.l2_alone = mean_of(alone_, k, &KernelTrial::l2);
      kernel.l2_beside = mean_of(trials, k, &KernelTrial::l2);
      kernel.busy_alone = mean_busy(alone_, k);
      kernel.activity_alone = mean_activity(alone_, k, kernel.blocks);
      sms_in_use += std::min(double(kernel.sms), double(kernel.blocks));
    }
    result.busy = mean_busy(trials, 0);
    result.activity = mean_activity(trials, 0, sms_in_use);
    result.over_sequential = statistic(trials, [](const Kernels& alone, const Kernels& beside) {
      double sequential = 0;
      for (const KernelTrial& one : alone)
        sequential += double(one.cycles);
      return double(std::ranges::max(beside, {}, &KernelTrial::cycles).cycles) / sequential;
    });
    const auto laps = [](const Kernels& alone, const Kernels& beside, std::size_t k) {
      return laps_of(alone[k], beside[k]);
    };
    result.speed_up = statistic(trials, [&](const Kernels& alone, const Kernels& beside) {
      double sequential = 0;
      for (std::size_t k = 0; k < alone.size(); ++k)
        sequential += laps(alone, beside, k) * double(alone[k].cycles);
      return sequential / double(std::ranges::max(beside, {}, &KernelTrial::cycles).cycles);
    });
    for (std::size_t k = 0; k < names_.size(); ++k) {
      result.kernels[k].laps = statistic(trials, [&](const Kernels& alone, const Kernels& beside) {
                                 return laps(alone, beside, k);
                               }).mean;
      result.kernels[k].repeats_part = result.kernels[k].laps > repeated_lap && repeats_part(k);
    }
    return result;
  }

  /// Returns whether a second lap of the kernel would find in the L2 what the launch's further blocks would
  /// not: the snapshot is a part of the launch, and brings in fewer lines than the L2 holds twice.
  bool repeats_part(std::size_t k) const {
    const Snapshot& snapshot = decoded_[k].snapshot();
    return !snapshot.whole_grid && double(snapshot.lines_touched) * line_bytes < 2.0 * double(gpu_.l2_bytes);
  }

  static constexpr double repeated_lap = 1.25; ///< a kernel that runs on in another one's tail repeats little

  const Gpu& gpu_;
  const CorunOptions& options_;
  std::deque<DecodedLaunch> decoded_;
  std::vector<JoinedSnapshot> alone_snapshots_;
  JoinedSnapshot together_;
  std::vector<SmShare> blocks_;         ///< what a block of each kernel takes
  std::vector<ByInstructionKind> work_; ///< what each kernel's snapshot executes
  std::vector<std::string> names_;
  std::vector<Trial> alone_;
};

} // namespace

Expected<std::vector<Expected<CorunResult>>> corun(std::span<const CorunLaunch> launches, const Gpu& gpu,
                                                   std::span<const Arrangement> arrangements,
                                                   const CorunOptions& options) {
  if (options.trials < 2)
    return fail("{} trial is too few: an interval needs at least 2", options.trials);
  if (const std::string why = why_times_are_unknown(gpu); !why.empty())
    return fail("kernels beside each other are compared by time, which is not known on {}, because {}",
                gpu.id, why);
  Corun corun(gpu, options);
  TRY(corun.decode(launches));
  std::vector<Expected<Places>> places;
  for (const Arrangement& arrangement : arrangements)
    places.push_back(corun.places_of(arrangement));
  // The trials of each kernel alone are not run where no arrangement is possible.
  if (std::ranges::any_of(places, [](const Expected<Places>& one) { return one.has_value(); }))
    corun.run_alone();
  std::vector<Expected<CorunResult>> results;
  for (std::size_t i = 0; i < places.size(); ++i)
    results.push_back(places[i] ? Expected<CorunResult>(corun.run(arrangements[i], *places[i]))
                                : Expected<CorunResult>(tl::unexpected(places[i].error())));
  return results;
}

} // namespace warplens::model
