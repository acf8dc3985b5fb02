#include "model/replay/observers/kernels_over_time.h"

#include <algorithm>
#include <bit>

namespace warplens::model {

KernelsOverTime::KernelsOverTime(std::vector<std::uint32_t> first_sites, Cycle cycles, std::uint32_t bins,
                                 double ns_per_cycle)
    : first_sites_(std::move(first_sites)),
      bins_(std::size_t(std::min<Cycle>(bins, std::max<Cycle>(cycles, 1)))) {
  timeline_.cycles = std::max<Cycle>(cycles, 1);
  timeline_.ns_per_cycle = ns_per_cycle;
  for (std::size_t bin = 0; bin <= bins_; ++bin)
    timeline_.edges.push_back((timeline_.cycles * bin + bins_ - 1) / bins_);
  const std::vector<std::uint64_t> nothing(bins_);
  timeline_.kernels.assign(first_sites_.size(), {nothing, nothing, nothing});
  timeline_.l2_hits = timeline_.l2_all = timeline_.dram_lines = nothing;
}

void KernelsOverTime::issued(std::uint32_t, const Access& access, std::span<const Transaction>,
                             const Lookups& l1, Cycle at) {
  const std::size_t bin = bin_of(at);
  if (bin == bins_)
    return;
  const auto after = std::ranges::upper_bound(first_sites_, access.site);
  CorunTimeline::Kernel& kernel = timeline_.kernels[std::size_t(after - first_sites_.begin()) - 1];
  ++kernel.requests[bin];
  kernel.l1_hits[bin] += l1.hits;
  kernel.l1_all[bin] += l1.all;
}

void KernelsOverTime::looked_up(bool is_load, std::uint32_t, unsigned sectors, const L2Outcome& outcome,
                                Cycle at) {
  const std::size_t bin = bin_of(at);
  if (bin == bins_ || !is_load)
    return;
  timeline_.l2_hits[bin] += std::uint64_t(std::popcount(outcome.hits & sectors));
  timeline_.l2_all[bin] += std::uint64_t(std::popcount(sectors));
}

void KernelsOverTime::used_memory(const DramUse&, std::uint32_t, Cycle from, Cycle) {
  if (const std::size_t bin = bin_of(from); bin != bins_)
    ++timeline_.dram_lines[bin];
}

} // namespace warplens::model
