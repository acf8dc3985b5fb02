#include "judge/pair_estimates.h"

#include "power/kernel_power.h"
#include "sharing/cache_equilibrium.h"
#include "sharing/fit_line.h"
#include "sharing/mixing.h"
#include "sharing/pairing.h"
#include "sharing/partition_search.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace warplens::judge {
namespace {

constexpr double schedulers_of_sm = 4;

Expected<sharing::CacheProcess> process_of(const KernelResult& kernel) {
  if (!kernel.time_unknown.empty())
    return fail("the time of {} on {} is not known, because {}", kernel.name, kernel.gpu,
                kernel.time_unknown);
  if (!kernel.sharing)
    return fail("{} on {}: the result has no profile for estimates: model it with --sharing", kernel.name,
                kernel.gpu);
  const SharingProfile::L2& l2 = kernel.sharing->l2;
  if (l2.requests <= 0 || l2.instructions <= 0 || l2.misses.empty() || l2.cuts.empty() || l2.ways == 0)
    return fail("{} on {}: it makes no request to the L2", kernel.name, kernel.gpu);
  std::vector<std::pair<double, double>> points;
  for (const SharingProfile::L2::Cut& cut : l2.cuts)
    points.emplace_back(cut.misses, cut.seconds / l2.instructions);
  const sharing::SlowDownLine line = sharing::fit_line(points);
  if (line.alpha + line.beta <= 0)
    return fail("{} on {}: its times with a part of the L2 are 0", kernel.name, kernel.gpu);
  return sharing::CacheProcess{sharing::MissCurve(l2.misses), l2.requests / l2.instructions, line.alpha,
                               line.beta};
}

SharedL2::Estimate estimate(const sharing::CacheProcess& process, double ways, double all_ways) {
  return {ways, process.misses(ways),
          process.seconds_per_instruction(ways) / process.seconds_per_instruction(all_ways)};
}

/// Returns a kernel's pipes in the order of the names, with that number of warps on a scheduler.
sharing::MixedKernel mixed(const SharingProfile& profile, const std::set<std::string>& names, double warps) {
  sharing::MixedKernel kernel{{}, std::max(1.0, warps), profile.held_share};
  for (const std::string& name : names) {
    const auto found = std::ranges::find(profile.pipes, name, &SharingProfile::Pipe::name);
    kernel.pipes.push_back(found == profile.pipes.end() ? sharing::PipeUse{}
                                                        : sharing::PipeUse{found->share, found->interval,
                                                                           found->latency, found->distances});
  }
  return kernel;
}

/// Returns the share of the time in which the kernel keeps memory busy with a part of the L2's ways: from the
/// trials that began, as those of its time with that part, with an empty L2. Between them it is linear.
double memory_busy(const SharingProfile::L2& l2, double ways) {
  const auto busy = [](const SharingProfile::L2::Cut& cut) { return cut.dram_busy.value_or(0); };
  const auto above = std::ranges::find_if(l2.cuts, [&](const auto& cut) { return cut.ways >= ways; });
  if (above == l2.cuts.begin() || above == l2.cuts.end())
    return busy(above == l2.cuts.end() ? l2.cuts.back() : *above);
  const auto below = above - 1;
  const double part = (ways - below->ways) / (double(above->ways) - below->ways);
  return busy(*below) + part * (busy(*above) - busy(*below));
}

/// Returns the share of the warps that each of two kernels has alone for which an SM has room beside the
/// other's: all, or as many of each as fit; half where the SM is not known.
double share_of_warps(const KernelResult& first, const KernelResult& second) {
  if (!first.machine || first.machine->sm.threads == 0)
    return 0.5;
  const SmResources& sm = first.machine->sm;
  std::array<double, 4> taken{};
  for (const KernelResult* kernel : {&first, &second}) {
    const SharingProfile::Block& block = kernel->sharing->block;
    const double blocks = kernel->sharing->warps / std::max(1u, block.warps);
    taken[0] += kernel->sharing->warps / (double(sm.threads) / warp_lanes);
    taken[1] += sm.blocks == 0 ? 0 : blocks / sm.blocks;
    taken[2] += sm.registers == 0 ? 0 : blocks * block.registers / sm.registers;
    taken[3] += sm.shared_bytes == 0 ? 0 : blocks * block.shared_bytes / sm.shared_bytes;
  }
  return 1 / std::max(1.0, std::ranges::max(taken));
}

bool lacks_memory(const KernelResult& kernel) {
  return std::ranges::any_of(kernel.sharing->l2.cuts, [](const auto& cut) { return !cut.dram_busy; });
}

std::set<std::string> pipes_of(const SharingProfile& first, const SharingProfile& second) {
  std::set<std::string> names;
  for (const SharingProfile* profile : {&first, &second})
    for (const SharingProfile::Pipe& pipe : profile->pipes)
      names.insert(pipe.name);
  return names;
}

/// Returns the processes that share the L2 of one GPU.
Expected<std::vector<sharing::CacheProcess>> processes_of(std::span<const KernelResult> kernels) {
  std::vector<sharing::CacheProcess> processes;
  for (const KernelResult& kernel : kernels) {
    if (kernel.gpu != kernels.front().gpu)
      return fail("{} is on {}, {} on {}: kernels share the L2 of one GPU", kernel.name, kernel.gpu,
                  kernels.front().name, kernels.front().gpu);
    TRY_LET(process, process_of(kernel));
    processes.push_back(std::move(*process));
  }
  return processes;
}

/// Returns the slow-downs by the ways that kernels hold, and where they ask for more of memory's time than
/// there is, by the part of it that each gets.
std::vector<double> slow_down_by_memory(std::span<const KernelResult* const> kernels,
                                        std::span<const SharedL2::Estimate> camp) {
  std::vector<double> busy, slow_downs;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    busy.push_back(memory_busy(kernels[k]->sharing->l2, camp[k].ways));
  const std::vector<double> served = sharing::fair_shares(busy, 1);
  for (std::size_t k = 0; k < kernels.size(); ++k)
    slow_downs.push_back(camp[k].slow_down * (served[k] > 0 ? busy[k] / served[k] : 1));
  return slow_downs;
}

/// Returns the board's power while the kernels run beside each other with those slow-downs.
std::optional<MeanWatts> watts_beside(std::span<const KernelResult* const> kernels,
                                      std::span<const double> slow_downs, const power::Energies* energies) {
  std::vector<Activity> alone;
  for (const KernelResult* kernel : kernels) {
    if (energies == nullptr || !power::check_power(*kernel))
      return std::nullopt;
    alone.push_back(power::activity_of(*kernel));
  }
  const power::Estimate watts = power::power_of(power::beside(alone, slow_downs), *energies);
  return MeanWatts{watts.value, {watts.low, watts.high}};
}

} // namespace

std::optional<PartitionChoice> best_partition(const SharingProfile& first, const SharingProfile& second,
                                              const SmResources& sm, double issue_width) {
  if (first.pipes.empty() || second.pipes.empty())
    return std::nullopt;
  const std::set<std::string> names = pipes_of(first, second);
  std::array<sharing::BlockNeeds, 2> needs;
  for (std::size_t k = 0; k < 2; ++k) {
    const SharingProfile::Block& block = (k == 0 ? first : second).block;
    needs[k] = {std::max(1u, block.warps), block.registers, block.shared_bytes};
  }
  const std::vector<sharing::BlockPartition> feasible = sharing::feasible_partitions(
      needs, {sm.threads / warp_lanes, sm.blocks, sm.registers, std::uint32_t(sm.shared_bytes)});
  const auto even = sharing::even_partition(feasible);
  if (!even)
    return std::nullopt;
  const std::array<sharing::MixedKernel, 2> alone{mixed(first, names, first.warps / schedulers_of_sm),
                                                  mixed(second, names, second.warps / schedulers_of_sm)};
  sharing::PartitionSearch search{.schedulers = schedulers_of_sm, .issue_width = issue_width};
  if (const auto memory = names.find(std::string(name_of(Resource::memory_pipeline))); memory != names.end())
    search.memory_pipe = std::size_t(std::distance(names.begin(), memory));
  const std::vector<sharing::RatedPartition> rated = sharing::rate_partitions(feasible, alone, search);
  const auto rated_even = std::ranges::find_if(
      rated, [&](const sharing::RatedPartition& one) { return one.partition.blocks == even->blocks; });
  const sharing::RatedPartition& best = rated.front();
  return PartitionChoice{
      rated.size(),    best.partition.blocks, best.gain, rated_even->gain, best.busy_lanes * schedulers_of_sm,
      best.first_turns};
}

std::array<double, 2> slow_down_by_pipes(const SharingProfile& first, const SharingProfile& second,
                                         const std::array<double, 2>& warps, double issue_width) {
  if (first.pipes.empty() || second.pipes.empty())
    return {1, 1};
  const std::set<std::string> names = pipes_of(first, second);
  constexpr double scheduler_share = 1 / schedulers_of_sm; // of an SM's warps
  const std::vector<sharing::MixedKernel> both{mixed(first, names, warps[0] * scheduler_share),
                                               mixed(second, names, warps[1] * scheduler_share)};
  const std::vector<double> together = sharing::mixed_rates(both, issue_width);
  std::array<double, 2> slow_down{1, 1};
  for (std::size_t k = 0; k < 2; ++k) {
    const SharingProfile& profile = k == 0 ? first : second;
    const sharing::MixedKernel alone = mixed(profile, names, profile.warps * scheduler_share);
    const double rate = sharing::mixed_rates(std::span(&alone, 1), issue_width)[0];
    slow_down[k] = together[k] > 0 ? rate / together[k] : 1;
  }
  return slow_down;
}

std::vector<std::pair<std::size_t, std::size_t>> best_pairs(std::span<const SharedL2> pairs,
                                                            std::size_t kernels) {
  std::vector<sharing::PairCost> costs;
  for (const SharedL2& pair : pairs)
    costs.push_back({pair.kernels[0], pair.kernels[1], pair.mean_slow_down()});
  return sharing::cheapest_pairs(costs, kernels);
}

Expected<SharedByAll> estimate_together(std::span<const KernelResult> kernels,
                                        const power::Energies* energies) {
  TRY_LET(processes, processes_of(kernels));
  const double ways = kernels.front().sharing->l2.ways;
  const sharing::Equilibria found = sharing::equilibria(*processes, ways);
  SharedByAll all;
  std::vector<const KernelResult*> list;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    all.camp.push_back(estimate((*processes)[k], found.all[found.reached].ways[k], ways));
    list.push_back(&kernels[k]);
  }
  all.slow_down = slow_down_by_memory(list, all.camp);
  all.watts = watts_beside(list, all.slow_down, energies);
  return all;
}

Expected<std::vector<SharedL2>> estimate_pairs(std::span<const KernelResult> kernels, double issue_width,
                                               const power::Energies* energies) {
  TRY_LET(read, processes_of(kernels));
  const std::vector<sharing::CacheProcess>& processes = *read;
  std::vector<SharedL2> pairs;
  for (std::size_t first = 0; first < kernels.size(); ++first)
    for (std::size_t second = first + 1; second < kernels.size(); ++second) {
      SharedL2& pair = pairs.emplace_back();
      pair.kernels = {first, second};
      const double ways = kernels[first].sharing->l2.ways;
      const std::vector<sharing::CacheProcess> both{processes[first], processes[second]};
      const sharing::Equilibria found = sharing::equilibria(both, ways);
      pair.equilibria = found.all.size();
      const auto put = [&](const std::vector<double>& of, std::array<SharedL2::Estimate, 2>& estimates) {
        for (std::size_t k = 0; k < 2; ++k)
          estimates[k] = estimate(both[k], of[k], ways);
      };
      put(found.all[found.reached].ways, pair.camp);
      put(sharing::ways_by_accesses(both, ways), pair.by_accesses);
      put(sharing::ways_by_misses(both, ways), pair.by_misses);
      const std::array<const KernelResult*, 2> list{&kernels[first], &kernels[second]};
      const std::vector<double> by_memory = slow_down_by_memory(list, pair.camp);
      const SharingProfile &one = *kernels[first].sharing, &other = *kernels[second].sharing;
      const double warps = share_of_warps(kernels[first], kernels[second]);
      pair.same_sm = slow_down_by_pipes(one, other, {one.warps * warps, other.warps * warps}, issue_width);
      for (std::size_t k = 0; k < 2; ++k)
        pair.slow_down[k] = std::max(by_memory[k], pair.same_sm[k]);
      pair.watts = watts_beside(list, pair.slow_down, energies);
      // The search takes longer than all else.
      if (const auto& machine = kernels[first].machine;
          kernels.size() == 2 && machine && machine->sm.threads != 0)
        pair.partition = best_partition(one, other, machine->sm, issue_width);
      if (one.pipes.empty() || other.pipes.empty())
        pair.leaves_out.push_back("the pipes of the SMs, as the code of a kernel is not known");
      if (lacks_memory(kernels[first]) || lacks_memory(kernels[second]))
        pair.leaves_out.push_back("memory's time, which results of older versions lack");
    }
  std::ranges::stable_sort(pairs, {}, &SharedL2::mean_slow_down);
  return pairs;
}

} // namespace warplens::judge
