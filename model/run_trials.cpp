#include "model/run_trials.h"

#include "model/clock/clocked_trial.h"
#include "model/confidence.h"
#include "model/share_trials.h"
#include "model/trial/observers/cold_misses.h"
#include "model/trial/observers/dram_latencies.h"
#include "model/trial/observers/objects.h"
#include "model/trial/observers/timeline.h"
#include "model/trial/trial.h"

#include <algorithm>
#include <mutex>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace warplens::model {
namespace {

/// The intervals are checked after each batch. Trials end when they were narrow at two checks in a row: those
/// that are narrow by chance once would be stated too narrow. A clock takes longer, and leaves less to
/// chance.
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

} // namespace

Trials run_trials(const Snapshot& snapshot, const std::vector<Site>& sites, const trace::Launch& launch,
                  const Gpu& gpu, const Occupancy& occupied, const Options& options,
                  std::span<const L2> before) {
  Trials trials;
  FirstTrial first(snapshot, sites);
  Observers observers = first.observers();
  std::mutex reporting;
  std::uint32_t done = 0;
  const auto trial = [&](std::uint32_t number, TrialObserver* observer) {
    const Random random(options.seed, launch.id, number);
    if (!options.without_clock) {
      const std::uint32_t machine = machine_of(number, gpu);
      TrialCounts counts = run_clocked_trial(snapshot, gpu.machines.empty() ? gpu : gpu.machines[machine],
                                             occupied, random, before, observer);
      counts.machine = machine;
      return counts;
    }
    const L2* const l2 = before.empty() ? nullptr : &before.front();
    return observer != nullptr ? run_trial(snapshot, gpu, occupied, random, *observer, l2)
                               : run_trial(snapshot, gpu, occupied, random, l2);
  };
  const auto run = [&](std::uint32_t number) {
    trials.counts[number] = trial(number, number == 0 ? &observers : nullptr);
    if (!options.progress)
      return;
    const std::lock_guard lock(reporting);
    options.progress(launch.kernel, gpu.id, ++done, options.trials);
  };

  const int cores = tbb::info::default_concurrency();
  tbb::task_arena arena(options.threads == 0 ? cores : int(std::min(options.threads, unsigned(cores))));
  while (trials.counts.size() < options.trials && !trials.enough) {
    const auto begin = std::uint32_t(trials.counts.size());
    const auto end = std::min(options.trials, begin + batch_trials(options));
    trials.counts.resize(end); // each trial has an element of its own, whichever thread runs it
    arena.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::uint32_t>(begin, end, 1),
          [&](const auto& range) {
            for (std::uint32_t number = range.begin(); number != range.end(); ++number)
              if (is_mine(number, options.ranks))
                run(number);
          },
          tbb::simple_partitioner());
    });
    share(std::span(trials.counts).subspan(begin), begin, snapshot.sites.size(), options.ranks);
    const bool well_before = trials.known_well;
    trials.known_well = known_well(trials.counts, snapshot, gpu, options.confidence);
    trials.enough = well_before && trials.known_well;
  }
  std::move(first).report(trials);
  const Cycle cycles = trials.counts.empty() ? 0 : trials.counts.front().time.cycles;
  if (options.timeline_bins != 0 && cycles != 0) {
    // A timeline has bins of equal lengths, so that trial runs again now that its length is known.
    TimelineRecorder timeline(snapshot, sites, gpu, 0, cycles, options.timeline_bins);
    trial(0, &timeline);
    trials.timeline = std::move(timeline).timeline();
  }
  return trials;
}

} // namespace warplens::model
