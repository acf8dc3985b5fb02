#include "model/scale/sampled_blocks.h"

#include "model/snapshot/scaled.h"

#include <algorithm>
#include <span>

namespace warplens::model {
namespace {

/// Returns the sample of each of the snapshot's blocks.
std::vector<std::uint32_t> samples_of_blocks(std::uint64_t blocks, std::uint64_t resident,
                                             std::uint32_t samples) {
  std::vector<std::uint32_t> sample_of(blocks);
  for (std::uint64_t first = 0, wave = 0; first < blocks; first += resident, ++wave) {
    const std::uint64_t wave_blocks = std::min(resident, blocks - first);
    for (std::uint64_t block = 0; block < wave_blocks; ++block) {
      const std::uint64_t run = ((block + 1) * samples - 1) / wave_blocks;
      sample_of[first + block] = std::uint32_t((run + samples - wave % samples) % samples);
    }
  }
  return sample_of;
}

/// Calls visit() for what the warp accesses, also in iterations that it leaves out.
template <class Visit> void each_transaction(const Warp& warp, Visit&& visit) {
  std::ranges::for_each(warp.transactions, visit);
  for (const Gap& gap : warp.gaps) {
    std::ranges::for_each(gap.loads, visit);
    std::ranges::for_each(gap.stores, visit);
  }
}

} // namespace

SampledBlocks sample_blocks(const Snapshot& snapshot, std::uint64_t resident, std::uint32_t samples) {
  SampledBlocks sampled{{}, LineSharing(snapshot.pages.size())};
  Snapshot& part = sampled.snapshot;
  part.windows = snapshot.windows;
  part.sites = snapshot.sites;
  part.pages = snapshot.pages;
  part.byte_masks = snapshot.byte_masks;
  part.code = snapshot.code;
  part.whole_grid = snapshot.whole_grid;
  part.reads_constants = snapshot.reads_constants;
  part.stores_local = snapshot.stores_local;
  part.reads_read_only = snapshot.reads_read_only;
  part.reads_textures = snapshot.reads_textures;
  part.has_barriers = snapshot.has_barriers;
  part.leaves_out = snapshot.leaves_out;
  part.executions_of_replayed = snapshot.executions_of_replayed;
  const std::vector<std::uint32_t> sample_of = samples_of_blocks(snapshot.blocks.size(), resident, samples);
  for (std::size_t i = 0; i < snapshot.blocks.size(); ++i) {
    const Snapshot::Block& block = snapshot.blocks[i];
    const std::span warps(snapshot.warps.begin() + block.first_warp, block.warps);
    for (const Warp& warp : warps)
      each_transaction(
          warp, [&](const Transaction& transaction) { sampled.lines.add(transaction.line, sample_of[i]); });
    if (sample_of[i] != 0)
      continue;
    part.blocks.push_back({block.id, std::uint32_t(part.warps.size()), block.warps});
    part.warps.insert(part.warps.end(), warps.begin(), warps.end());
    for (const Warp& warp : warps)
      part.transactions += warp.transactions.size();
  }
  const double share = double(part.blocks.size()) / double(std::max<std::size_t>(1, snapshot.blocks.size()));
  part.blocks_seen = scaled(snapshot.blocks_seen, share);
  part.warp_accesses = scaled(snapshot.warp_accesses, share);
  part.further_blocks = snapshot.further_blocks * share;
  finalize(part);
  part.sites = snapshot.sites; // whose counts are those of all blocks
  return sampled;
}

} // namespace warplens::model
