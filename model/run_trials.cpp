#include "model/run_trials.h"

#include "model/clock/clocked_trial.h"
#include "model/confidence.h"
#include "model/counts/scaled_counts.h"
#include "model/figures.h"
#include "model/replay/observers/cold_misses.h"
#include "model/replay/observers/dram_latencies.h"
#include "model/replay/observers/objects.h"
#include "model/replay/observers/timeline.h"
#include "model/replay/trial.h"
#include "model/share_trials.h"
#include "numeric/statistics.h"

#include <algorithm>
#include <mutex>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace warplens::model {
namespace {

/// The intervals are checked after each batch. Trials end when they were narrow at two checks in a row: those
/// that are narrow by chance once would be stated too narrow. A clock takes longer, and leaves less to
/// chance: its trials end at one check where the intervals are much narrower than they need to be, at the
/// first one by more, as two trials on each machine tell little of their deviation.
constexpr double much_narrower = 0.5, much_narrower_at_first = 0.25;

std::uint32_t batch_trials(const Options& options) {
  return options.without_clock ? 16 : 4;
}

/// Returns the machine on which a trial runs. Two share each machine: their difference is that of the order.
std::uint32_t machine_of(std::uint32_t trial, const Gpu& gpu) {
  return gpu.machines.empty() ? 0 : trial / 2 % std::uint32_t(gpu.machines.size());
}

/// The observers of the first trial.
class FirstTrial {
public:
  FirstTrial(const Snapshot& snapshot, const std::vector<Site>& sites) : objects_(snapshot, sites) {}

  Observers observers() {
    return Observers(std::vector<TrialObserver*>{&objects_, &cold_misses_, &dram_latencies_});
  }

  void report(Trials& trials) && {
    trials.objects = std::move(objects_).results();
    trials.cold_miss_share = cold_misses_.share();
    trials.dram_latencies = dram_latencies_.distribution();
  }

private:
  Objects objects_;
  ColdMisses cold_misses_;
  DramLatencies dram_latencies_;
};

/// The trials that have ended so far, in any order.
class Ended {
public:
  Ended(const trace::Launch& launch, const Gpu& gpu, const Options& options, std::uint32_t divisor)
      : launch_(launch), gpu_(gpu), options_(options) {
    progress_.kernel = launch.kernel;
    progress_.gpu = gpu.id;
    progress_.number = options.number;
    progress_.most = options.trials;
    progress_.divisor = divisor;
  }

  void add(std::uint32_t number, const TrialCounts& counts) {
    const std::lock_guard lock(mutex_);
    numbers_.push_back(number);
    if (!options_.progress)
      return;
    static_cast<TrialTotals&>(so_far_.emplace_back()) = counts;
    ++progress_.done;
    progress_.microseconds = launch_time(so_far_, launch_, gpu_);
    if (progress_.microseconds && progress_.divisor != 1)
      widen(*progress_.microseconds, time_error_of_part * progress_.microseconds->mean);
    const Totals totals = totals_of(so_far_, gpu_);
    const auto mean = [](const auto& rate) { return rate ? std::optional(rate->mean) : std::nullopt; };
    progress_.l1_hits = mean(totals.l1_read_hit_rate);
    progress_.l2_hits = mean(totals.l2_read_hit_rate);
    options_.progress(progress_);
  }
  std::size_t count() const { return numbers_.size(); }
  /// Returns those of them, in trial order.
  std::vector<TrialCounts> of(std::vector<TrialCounts> counts) {
    std::ranges::sort(numbers_);
    std::vector<TrialCounts> ended;
    for (const std::uint32_t number : numbers_)
      ended.push_back(std::move(counts[number]));
    return ended;
  }

private:
  const trace::Launch& launch_;
  const Gpu& gpu_;
  const Options& options_;
  std::mutex mutex_;
  std::vector<std::uint32_t> numbers_;
  std::vector<TrialCounts> so_far_; ///< without sites and states
  TrialProgress progress_;
};

} // namespace

Trials run_trials(const Snapshot& snapshot, const std::vector<Site>& sites, const trace::Launch& launch,
                  const Gpu& gpu, const Occupancy& occupied, const Options& options,
                  std::span<const L2> before, const ScaleModel* scale) {
  Trials trials;
  FirstTrial first(snapshot, sites);
  Observers observers = first.observers();
  const auto trial = [&](std::uint32_t number, TrialObserver* observer) {
    const Random random(options.seed, launch.id, number);
    if (!options.without_clock) {
      const std::uint32_t machine = machine_of(number, gpu);
      const Snapshot& replayed = scale != nullptr ? scale->snapshot : snapshot;
      const Gpu& all = scale != nullptr ? scale->gpu : gpu;
      TrialCounts counts = run_clocked_trial(replayed, all.machines.empty() ? all : all.machines[machine],
                                             occupied, random, before, observer, options.stop);
      if (scale != nullptr)
        scale_counts(counts, scale->divisor);
      counts.machine = machine;
      return counts;
    }
    const L2* const l2 = before.empty() ? nullptr : &before.front();
    return observer != nullptr ? run_trial(snapshot, gpu, occupied, random, *observer, l2)
                               : run_trial(snapshot, gpu, occupied, random, l2);
  };
  const auto stops = [&] { return options.stop && options.stop(); };
  Ended ended(launch, gpu, options, scale != nullptr ? scale->divisor : 1);
  const auto run = [&](std::uint32_t number) {
    // The observers number the blocks of the snapshot itself.
    TrialCounts counts = trial(number, number == 0 && scale == nullptr ? &observers : nullptr);
    if (!stops())
      ended.add(number, trials.counts[number] = std::move(counts));
  };

  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(options.threads == 0 ? cores : int(std::min(options.threads, unsigned(cores))));
  while (trials.counts.size() < options.trials && !trials.enough && !stops()) {
    const auto begin = std::uint32_t(trials.counts.size());
    const auto end = std::min(options.trials, begin + batch_trials(options));
    trials.counts.resize(end); // each trial has an element of its own, whichever thread runs it
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::uint32_t>(begin, end, 1),
          [&](const auto& range) {
            for (std::uint32_t number = range.begin(); number != range.end(); ++number)
              if (is_mine(number, options.ranks) && !stops())
                run(number);
          },
          tbb::simple_partitioner());
    });
    if (ended.count() < trials.counts.size() && options.ranks.count == 1)
      break;
    share(std::span(trials.counts).subspan(begin), begin, snapshot.sites.size(), options.ranks);
    const bool well_before = trials.known_well;
    trials.known_well = known_well(trials.counts, snapshot, gpu, options.confidence);
    const double narrower = begin == 0 ? much_narrower_at_first : much_narrower;
    trials.enough = trials.known_well &&
                    (well_before || (!options.without_clock &&
                                     known_well(trials.counts, snapshot, gpu,
                                                {.rate = narrower * options.confidence.rate,
                                                 .latency = narrower * options.confidence.latency})));
  }
  trials.stopped = !trials.enough && trials.counts.size() < options.trials;
  if (ended.count() < trials.counts.size() && options.ranks.count == 1) {
    trials.stopped = true;
    trials.counts = ended.of(std::move(trials.counts));
  }
  if (scale != nullptr || trials.counts.empty())
    return trials;
  std::move(first).report(trials);
  const Cycle cycles = trials.counts.front().time.cycles;
  // A replay without all iterations has gaps in time.
  if (!snapshot.leaves_out && options.timeline_bins != 0 && cycles != 0 && !trials.stopped) {
    // A timeline has bins of equal lengths, so that trial runs again now that its length is known.
    TimelineRecorder timeline(snapshot, sites, gpu, 0, cycles, options.timeline_bins);
    trial(0, &timeline);
    trials.timeline = std::move(timeline).timeline();
  }
  return trials;
}

} // namespace warplens::model
