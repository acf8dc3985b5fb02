#include "model/snapshot/snapshot_size.h"

#include <algorithm>

namespace warplens::model {

SnapshotThreads snapshot_threads(const Gpu& gpu) {
  constexpr std::uint64_t bytes_per_thread = 64;
  const std::uint64_t in_flight = std::uint64_t{gpu.sms} * gpu.max_threads_per_sm;
  const std::uint64_t fill =
      (gpu.l2_bytes + in_flight * bytes_per_thread - 1) / (in_flight * bytes_per_thread);
  const std::uint64_t depth = std::max<std::uint64_t>(2, fill);
  return {in_flight * depth, in_flight * std::max<std::uint64_t>(32, depth)};
}

SnapshotThreads snapshot_threads(std::span<const Gpu> gpus) {
  SnapshotThreads all;
  for (const Gpu& gpu : gpus) {
    const SnapshotThreads one = snapshot_threads(gpu);
    all = {std::max(all.min, one.min), std::max(all.max, one.max)};
  }
  return all;
}

std::uint64_t blocks_with(std::uint64_t threads, const trace::Launch& launch) {
  const std::uint64_t of_block = std::max<std::uint64_t>(launch.block.count(), 1);
  return (threads + of_block - 1) / of_block;
}

std::uint64_t snapshot_blocks(const Snapshot& deepest, const trace::Launch& launch, const Gpu& gpu,
                              std::uint64_t resident) {
  const auto [min_threads, max_threads] = snapshot_threads(gpu);
  const std::uint64_t min_blocks = std::min(launch.blocks, blocks_with(min_threads, launch)),
                      max_blocks = std::min(launch.blocks, blocks_with(max_threads, launch));
  std::uint64_t wanted = max_blocks, accesses = 0, transactions = 0;
  for (const Snapshot::Block& block : deepest.blocks) {
    // Accesses to constant memory show little of the other caches, barriers nothing, and tracing does not
    // count them either.
    for (std::uint32_t i = 0; i < block.warps; ++i)
      for (const Access& access : deepest.warps[block.first_warp + i].accesses)
        if (access.cache != FirstCache::constant && access.kind != AccessKind::barrier) {
          ++accesses;
          transactions += access.transactions;
        }
    if (accesses >= enough_accesses || transactions >= enough_transactions) {
      wanted = std::clamp(block.id - launch.first_block + 1, min_blocks, max_blocks);
      break;
    }
  }
  return wanted >= launch.grid.count() || wanted < resident ? wanted : wanted / resident * resident;
}

} // namespace warplens::model
