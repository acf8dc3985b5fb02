#include "model/corun.h"

#include "model/clock/corun_trial.h"
#include "model/decoded_launch.h"
#include "model/numeric/statistics.h"
#include "model/snapshot/beside.h"
#include "sharing/block_partition.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <numeric>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace warplens::model {
namespace {

/// What each kernel does in one trial: alone, and beside the others.
struct Trial {
  std::vector<CorunCounts> alone;
  CorunCounts together;
};

sharing::BlockNeeds needs_of(const SmShare& block) {
  return {block.warps, block.registers, block.shared_bytes};
}

/// Gives each kernel its SMs, or its blocks on each.
Expected<void> divide(std::vector<CorunKernel>& kernels, const Gpu& gpu, const CorunOptions& options) {
  std::vector<double> shares = options.shares;
  if (!shares.empty() && shares.size() != kernels.size())
    return fail("{} shares for {} kernels", shares.size(), kernels.size());
  if (options.division == Division::streams)
    return {};
  if (options.division == Division::sms) {
    if (shares.empty())
      shares.assign(kernels.size(), 100.0 / double(kernels.size()));
    double before = 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (!(shares[k] > 0 && shares[k] <= 100))
        return fail("{:g} is no percentage of the SMs above 0", shares[k]);
      kernels[k].sms = std::clamp(std::uint32_t(std::lround(shares[k] / 100 * gpu.sms)), 1u, gpu.sms);
      const auto first = std::uint32_t(std::lround(before / 100 * gpu.sms));
      kernels[k].first_sm = std::min(first, gpu.sms - kernels[k].sms);
      before += shares[k];
    }
    return {};
  }
  if (shares.empty()) {
    if (kernels.size() != 2)
      return fail("blocks on an SM are chosen for two kernels; name them for {}: --split", kernels.size());
    const SmShare room = sm_resources(gpu);
    const auto feasible =
        sharing::feasible_partitions({needs_of(kernels[0].block), needs_of(kernels[1].block)},
                                     {room.warps, room.blocks, room.registers, room.shared_bytes});
    const auto even = sharing::even_partition(feasible);
    if (!even)
      return fail("an SM of {} has no room for a block of both kernels", gpu.id);
    shares = {double(even->blocks[0]), double(even->blocks[1])};
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (!(shares[k] >= 1 && shares[k] <= gpu.max_blocks_per_sm && std::floor(shares[k]) == shares[k]))
      return fail("{:g} is no number of blocks on an SM, from 1 to {}", shares[k], gpu.max_blocks_per_sm);
    kernels[k].max_per_sm = std::uint32_t(shares[k]);
  }
  return {};
}

/// Returns the share of hits of the launch's loads; nothing without loads.
std::optional<double> hit_rate(const TrialCounts& counts, const LaunchRange& range,
                               Lookups TrialCounts::Site::* of) {
  Lookups all;
  for (std::uint32_t site = range.first_site; site < range.first_site + range.sites; ++site)
    all += counts.sites[site].*of;
  return all.all == 0 ? std::nullopt : std::optional(double(all.hits) / double(all.all));
}

template <class Value> std::optional<double> mean_of(std::span<const Trial> trials, Value&& value) {
  double sum = 0;
  for (const Trial& trial : trials) {
    const std::optional<double> one = value(trial);
    if (!one)
      return std::nullopt;
    sum += *one / double(trials.size());
  }
  return sum;
}

template <class Value> Statistic statistic(std::span<const Trial> trials, Value&& value) {
  std::vector<double> values;
  std::ranges::transform(trials, std::back_inserter(values), value);
  return summarize(values);
}

/// Adds the shares of the time in which resources are busy, mean over trials.
void add_busy(const CorunCounts& counts, std::size_t trials, ByResource& busy) {
  const double cycles = double(std::ranges::max(counts.cycles));
  for (std::size_t resource = 0; resource < resource_count; ++resource)
    busy[resource] += std::min(1.0, counts.counts.time.mean_busy[resource] /
                                        std::max(cycles, double(counts.counts.time.cycles))) /
                      double(trials);
}

class Corun {
public:
  Corun(const Gpu& gpu, const CorunOptions& options) : gpu_(gpu), options_(options) {}

  Expected<CorunResult> run(std::span<const CorunLaunch> launches) {
    TRY(decode(launches));
    TRY(divide(kernels_, gpu_, options_));
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      if (!can_run(std::span(&kernels_[k], 1), gpu_))
        return fail("{}: a block has no room on {}", names_[k], gpu_.id);
    run_trials();
    return result();
  }

private:
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
      TRY_LET(alone, join(std::span(&snapshot, 1), true));
      alone_.push_back(std::move(*alone));
      snapshots.push_back(snapshot);
      kernels_.push_back({block_resources(gpu_, *one.launch), 0, gpu_.sms});
      names_.push_back(one.launch->kernel);
    }
    TRY_LET(together, join(snapshots, options_.share_memory));
    together_ = std::move(*together);
    return {};
  }

  void run_trials() {
    trials_.resize(options_.trials);
    const int cores = tbb::info::default_concurrency();
    tbb::task_arena arena(options_.threads == 0 ? cores : int(std::min(options_.threads, unsigned(cores))));
    const std::size_t runs = kernels_.size() + 1; // of a trial
    for (Trial& trial : trials_)
      trial.alone.resize(kernels_.size());
    arena.execute([&] {
      tbb::parallel_for(std::size_t{0}, runs * trials_.size(), [&](std::size_t number) {
        const std::size_t trial = number / runs, run = number % runs;
        const Random random(options_.seed, std::uint32_t(run), std::uint32_t(trial));
        const Gpu& machine = gpu_.machines.empty() ? gpu_ : gpu_.machines[trial / 2 % gpu_.machines.size()];
        if (run == kernels_.size()) {
          trials_[trial].together = run_corun_trial(together_, machine, kernels_, random);
          return;
        }
        // Alone, a kernel has all SMs.
        const CorunKernel alone{kernels_[run].block, 0, gpu_.sms};
        trials_[trial].alone[run] = run_corun_trial(alone_[run], machine, std::span(&alone, 1), random);
      });
    });
  }

  CorunResult result() const {
    CorunResult result{gpu_.id, gpu_.clock_mhz, options_.division, options_.trials, {}, {}, {}};
    const double us = gpu_.ns_per_cycle() / 1000;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      CorunKernelResult& kernel = result.kernels.emplace_back();
      kernel.name = names_[k];
      kernel.blocks = together_.launches[k].blocks;
      kernel.sms = kernels_[k].sms;
      kernel.max_per_sm = options_.division == Division::blocks ? kernels_[k].max_per_sm : 0;
      const auto alone = [&](const Trial& trial) { return double(trial.alone[k].cycles[0]); };
      const auto beside = [&](const Trial& trial) { return double(trial.together.cycles[k]); };
      kernel.alone_us = statistic(trials_, [&](const Trial& trial) { return alone(trial) * us; });
      kernel.beside_us = statistic(trials_, [&](const Trial& trial) { return beside(trial) * us; });
      kernel.slow_down = statistic(trials_, [&](const Trial& trial) { return beside(trial) / alone(trial); });
      kernel.waits_us = *mean_of(trials_, [&](const Trial& trial) {
        return std::optional(double(trial.together.first_block[k]) * us);
      });
      const auto rates = [&](Lookups TrialCounts::Site::* of, std::optional<double>& of_alone,
                             std::optional<double>& of_beside) {
        of_alone = mean_of(trials_, [&](const Trial& trial) {
          return hit_rate(trial.alone[k].counts, alone_[k].launches[0], of);
        });
        of_beside = mean_of(trials_, [&](const Trial& trial) {
          return hit_rate(trial.together.counts, together_.launches[k], of);
        });
      };
      rates(&TrialCounts::Site::l1, kernel.l1_alone, kernel.l1_beside);
      rates(&TrialCounts::Site::l2_reads, kernel.l2_alone, kernel.l2_beside);
      for (const Trial& trial : trials_)
        add_busy(trial.alone[k], trials_.size(), kernel.busy_alone);
    }
    for (const Trial& trial : trials_)
      add_busy(trial.together, trials_.size(), result.busy);
    result.over_sequential = statistic(trials_, [](const Trial& trial) {
      double sequential = 0;
      for (const CorunCounts& alone : trial.alone)
        sequential += double(alone.cycles[0]);
      return double(std::ranges::max(trial.together.cycles)) / sequential;
    });
    return result;
  }

  const Gpu& gpu_;
  const CorunOptions& options_;
  std::deque<DecodedLaunch> decoded_;
  std::vector<JoinedSnapshot> alone_;
  JoinedSnapshot together_;
  std::vector<CorunKernel> kernels_;
  std::vector<std::string> names_;
  std::vector<Trial> trials_;
};

} // namespace

Expected<CorunResult> corun(std::span<const CorunLaunch> launches, const Gpu& gpu,
                            const CorunOptions& options) {
  if (options.trials < 2)
    return fail("{} trial is too few: an interval needs at least 2", options.trials);
  return Corun(gpu, options).run(launches);
}

} // namespace warplens::model
