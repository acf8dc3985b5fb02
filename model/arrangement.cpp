#include "model/arrangement.h"

#include "model/gpu/mig.h"
#include "model/sm/sm_figures.h"
#include "sharing/block_partition.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <numeric>
#include <tuple>

namespace warplens::model {
namespace {

/// An SM's blocks of two kernels by a policy, or by ICMT-EVEN.
Expected<std::vector<double>> blocks_by(std::optional<Policy> policy, std::span<const SmShare> blocks,
                                        const Gpu& gpu) {
  if (blocks.size() != 2)
    return fail("blocks on an SM are chosen for two kernels; name them for {}: --split", blocks.size());
  const auto needs_of = [](const SmShare& block) {
    return sharing::BlockNeeds{block.warps, block.registers, block.shared_bytes};
  };
  const SmShare all = sm_resources(gpu);
  const sharing::SmRoom room{all.warps, all.blocks, all.registers, all.shared_bytes};
  const auto feasible = sharing::feasible_partitions({needs_of(blocks[0]), needs_of(blocks[1])}, room);
  const auto partition = policy == Policy::icmt_max ? sharing::fullest_partition(feasible)
                         : policy == Policy::intra  ? sharing::halved_partition(feasible, room)
                                                    : sharing::even_partition(feasible);
  if (!partition)
    return fail("an SM of {} has no room for a block of both kernels{}", gpu.id,
                policy == Policy::intra ? " in which neither has more than half of the warps" : "");
  return std::vector{double(partition->blocks[0]), double(partition->blocks[1])};
}

Expected<void> put_on_sms(std::vector<double> shares, const Gpu& gpu, std::vector<CorunKernel>& kernels) {
  if (shares.empty())
    shares.assign(kernels.size(), 100.0 / double(kernels.size()));
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (all > 100.001) // thirds may be rounded up
    return fail("{:g} % are more than all SMs: each kernel has SMs of its own", all);
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

Expected<void> limit_blocks(const std::vector<double>& shares, const Gpu& gpu,
                            std::vector<CorunKernel>& kernels) {
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (!(shares[k] >= 1 && shares[k] <= gpu.max_blocks_per_sm && std::floor(shares[k]) == shares[k]))
      return fail("{:g} is no number of blocks on an SM, from 1 to {}", shares[k], gpu.max_blocks_per_sm);
    kernels[k].max_per_sm = std::uint32_t(shares[k]);
  }
  SmShare taken;
  for (const CorunKernel& kernel : kernels) {
    taken.warps += kernel.max_per_sm * kernel.block.warps;
    taken.blocks += kernel.max_per_sm;
    taken.registers += kernel.max_per_sm * kernel.block.registers;
    taken.shared_bytes += kernel.max_per_sm * kernel.block.shared_bytes;
  }
  const SmShare all = sm_resources(gpu);
  for (const auto& [what, need, has] :
       {std::tuple("warps", taken.warps, all.warps), std::tuple("blocks", taken.blocks, all.blocks),
        std::tuple("registers", taken.registers, all.registers),
        std::tuple("bytes of shared memory", taken.shared_bytes, all.shared_bytes)})
    if (need > has)
      return fail("{:g} blocks on an SM take {} {}, and an SM of {} has {}", fmt::join(shares, " and "), need,
                  what, gpu.id, has);
  return {};
}

/// Returns the largest instances that the GPU has one of for each kernel, all alike.
std::vector<double> equal_instances(const Gpu& gpu, std::size_t kernels) {
  double slices = 0;
  for (const Gpu::Instance& one : gpu.instances)
    if (one.slices * kernels <= mig_slices && one.memory_eighths * kernels <= mig_memory_eighths)
      slices = one.slices;
  return std::vector<double>(kernels, slices);
}

Expected<void> put_into_instances(std::vector<double> shares, const Gpu& gpu, Places& places) {
  if (shares.empty() && !gpu.instances.empty())
    shares = equal_instances(gpu, places.kernels.size());
  if (!shares.empty() && shares.front() == 0)
    return fail("{} has no {} instances", gpu.id, places.kernels.size());
  shares.resize(places.kernels.size());
  std::uint32_t slices = 0, eighths = 0;
  for (std::size_t k = 0; k < places.kernels.size(); ++k) {
    TRY_LET(instance, instance_of(gpu, shares[k]));
    places.kernels[k].sms = instance->sms;
    slices += instance->slices;
    eighths += instance->memory_eighths;
    places.instances.push_back(*instance);
  }
  if (slices > mig_slices || eighths > mig_memory_eighths)
    return fail("the instances have {} slices and {} eighths of the memory together; {} has {} and {}",
                slices, eighths, gpu.id, mig_slices, mig_memory_eighths);
  return {};
}

} // namespace

Expected<Places> arrange(const Arrangement& arrangement, std::span<const SmShare> blocks, const Gpu& gpu) {
  std::vector<double> shares = arrangement.shares;
  if (!shares.empty() && shares.size() != blocks.size())
    return fail("{} shares for {} kernels", shares.size(), blocks.size());
  if (!shares.empty() && (arrangement.policy || arrangement.division == Division::streams))
    return fail("--split: {} give each kernel its part; --division sms, blocks or mig takes shares",
                arrangement.policy ? "policies" : "streams");
  Places places{arrangement.division, arrangement.what_if, {}, {}};
  for (const SmShare& block : blocks)
    places.kernels.push_back({block, 0, gpu.sms});
  if (arrangement.policy) {
    if (blocks.size() != 2)
      return fail("a policy is for two kernels, and there are {}", blocks.size());
    const bool on_same_sms = arrangement.policy != Policy::inter;
    places.division = on_same_sms ? Division::blocks : Division::sms;
    places.what_if.kernels_in_turn |= on_same_sms;
    places.what_if.own_queues |= on_same_sms && arrangement.policy != Policy::intra;
  }
  if (places.what_if.own_queues && blocks.size() > max_queues)
    return fail("queues of their own are for at most {} kernels", max_queues);
  switch (places.division) {
  case Division::streams: break;
  case Division::sms: TRY(put_on_sms(std::move(shares), gpu, places.kernels)); break;
  case Division::mig: TRY(put_into_instances(std::move(shares), gpu, places)); break;
  case Division::blocks:
    if (shares.empty()) {
      TRY_LET(chosen, blocks_by(arrangement.policy, blocks, gpu));
      shares = std::move(*chosen);
    }
    TRY(limit_blocks(shares, gpu, places.kernels));
    break;
  }
  return places;
}

} // namespace warplens::model
