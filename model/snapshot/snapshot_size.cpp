#include "model/snapshot/snapshot_size.h"

#include <algorithm>
#include <cmath>

namespace warplens::model {

SnapshotThreads snapshot_threads(const Gpu& gpu) {
  constexpr std::uint64_t bytes_per_thread = 64;
  const std::uint64_t in_flight = std::uint64_t{gpu.sms} * gpu.max_threads_per_sm;
  const std::uint64_t fill =
      (gpu.l2_bytes + in_flight * bytes_per_thread - 1) / (in_flight * bytes_per_thread);
  const std::uint64_t depth = std::max<std::uint64_t>(2, fill);
  return {in_flight * depth, in_flight * std::max<std::uint64_t>(32, depth), in_flight, gpu.sms};
}

SnapshotThreads snapshot_threads(std::span<const Gpu> gpus) {
  SnapshotThreads all;
  for (const Gpu& gpu : gpus) {
    const SnapshotThreads one = snapshot_threads(gpu);
    all = {std::max(all.min, one.min), std::max(all.max, one.max), std::max(all.wave, one.wave),
           std::max(all.sms, one.sms)};
  }
  return all;
}

std::uint64_t blocks_with(std::uint64_t threads, const trace::Launch& launch) {
  const std::uint64_t block_threads = std::max<std::uint64_t>(launch.block.count(), 1);
  return (threads + block_threads - 1) / block_threads;
}

BlockWindows collected_windows(const trace::Launch& launch, const std::optional<trace::LaunchEnd>& end) {
  const std::uint64_t first = end && end->blocks != 0 ? std::min(launch.blocks, end->blocks) : launch.blocks;
  BlockWindows windows{{launch.first_block, first, launch.grid.count()}};
  if (!end)
    return windows;
  for (const trace::BlockWindow& window : end->windows) {
    const std::uint64_t next = windows.back().first + windows.back().blocks;
    if (window.first < next || window.blocks == 0 || window.first - launch.first_block >= launch.blocks)
      continue; // the trace is damaged; `trace check` says so
    windows.front().stands_for -= std::min(windows.front().stands_for, window.stands_for);
    windows.push_back(window);
  }
  return windows;
}

BlockWindows in_pieces(const BlockWindows& windows) {
  constexpr std::uint64_t pieces_of_all = 8;
  std::uint64_t represented = 0;
  for (const trace::BlockWindow& window : windows)
    represented += window.stands_for;
  const trace::BlockWindow& first = windows.front();
  const std::uint64_t piece_blocks = std::max<std::uint64_t>(1, represented / pieces_of_all);
  const std::uint64_t count =
      std::clamp<std::uint64_t>((first.blocks + piece_blocks / 2) / piece_blocks, 1, pieces_of_all);
  BlockWindows pieces;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto part_of = [&](std::uint64_t all) { return all * (i + 1) / count - all * i / count; };
    pieces.push_back(
        {first.first + first.blocks * i / count, part_of(first.blocks), part_of(first.stands_for)});
  }
  pieces.insert(pieces.end(), windows.begin() + 1, windows.end());
  return pieces;
}

bool is_even(const Snapshot& snapshot, std::uint64_t blocks) {
  constexpr double share = 0.1, errors = 2;
  const auto boundary = std::min<std::size_t>(blocks, snapshot.blocks.size());
  const auto differs = [&](const auto& work_of) {
    double sums[2] = {}, squares[2] = {}, counts[2] = {};
    for (std::size_t i = 0; i < snapshot.blocks.size(); ++i) {
      const bool is_behind = i >= boundary;
      const double work = work_of(snapshot.blocks[i]);
      sums[is_behind] += work;
      squares[is_behind] += work * work;
      ++counts[is_behind];
    }
    if (counts[0] == 0 || counts[1] == 0)
      return false;
    const double first = sums[0] / counts[0], behind = sums[1] / counts[1];
    double variance = 0;
    for (const int part : {0, 1})
      variance +=
          std::max(0.0, squares[part] / counts[part] - std::pow(sums[part] / counts[part], 2)) / counts[part];
    const double apart = std::abs(behind - first);
    return apart > share * first && apart > errors * std::sqrt(variance);
  };
  const auto sum = [&](const Snapshot::Block& block, const auto& count_in_warp) {
    double all = 0;
    for (std::uint32_t i = 0; i < block.warps; ++i)
      all += double(count_in_warp(snapshot.warps[block.first_warp + i]));
    return all;
  };
  return !differs([&](const Snapshot::Block& block) {
    return sum(block, [](const Warp& warp) { return warp.accesses.size(); });
  }) && !differs([&](const Snapshot::Block& block) {
    return sum(block, [](const Warp& warp) { return warp.transactions.size(); });
  });
}

std::uint64_t blocks_of(const BlockWindows& windows) {
  std::uint64_t blocks = 0;
  for (const trace::BlockWindow& window : windows)
    blocks += window.blocks;
  return blocks;
}

BlockWindows in_proportion(BlockWindows windows, std::uint64_t blocks) {
  if (windows.size() == 1) {
    windows.front().blocks = std::min(windows.front().blocks, blocks);
    return windows;
  }
  double represented = 0;
  for (const trace::BlockWindow& window : windows)
    represented += double(window.stands_for);
  double share = double(blocks) / std::max(1.0, represented);
  for (const trace::BlockWindow& window : windows)
    share = std::min(share, double(window.blocks) / std::max(1.0, double(window.stands_for)));
  for (trace::BlockWindow& window : windows)
    window.blocks = std::clamp<std::uint64_t>(std::uint64_t(std::llround(share * double(window.stands_for))),
                                              std::min<std::uint64_t>(1, window.blocks), window.blocks);
  return windows;
}

std::uint64_t snapshot_blocks(const Snapshot& deepest, const BlockWindows& windows,
                              const trace::Launch& launch, const Gpu& gpu, std::uint64_t resident) {
  const std::uint64_t collected = blocks_of(windows);
  const SnapshotThreads threads = snapshot_threads(gpu);
  const std::uint64_t min_blocks = std::min(collected, blocks_with(threads.min, launch)),
                      max_blocks = std::min(collected, blocks_with(threads.max, launch));
  // In windows of other work the first blocks do not tell how many blocks have enough accesses.
  std::vector<const Snapshot::Block*> order;
  for (std::size_t i = 0; i < deepest.blocks.size(); ++i)
    order.push_back(&deepest.blocks[i]);
  if (windows.size() > 1) {
    const auto place = [&](const Snapshot::Block* block) {
      const auto window = std::ranges::upper_bound(windows, block->id, {}, &trace::BlockWindow::first) - 1;
      return double(block->id - window->first) / double(window->blocks);
    };
    std::ranges::stable_sort(order, {}, place);
  }
  std::uint64_t wanted = max_blocks, accesses = 0, transactions = 0, blocks = 0;
  for (const Snapshot::Block* const block : order) {
    blocks = windows.size() > 1 ? blocks + 1 : block->id - launch.first_block + 1;
    // Accesses to constant memory show little of the other caches, barriers nothing, and tracing does not
    // count them either.
    for (std::uint32_t i = 0; i < block->warps; ++i)
      for (const Access& access : deepest.warps[block->first_warp + i].accesses)
        if (access.cache != FirstCache::constant && access.kind != AccessKind::barrier) {
          ++accesses;
          transactions += access.transactions;
        }
    if (accesses >= enough_accesses || transactions >= enough_transactions) {
      wanted = std::clamp(blocks, min_blocks, max_blocks);
      break;
    }
  }
  return in_whole_waves(wanted, launch, resident);
}

std::uint64_t in_whole_waves(std::uint64_t blocks, const trace::Launch& launch, std::uint64_t resident) {
  return blocks >= launch.grid.count() || blocks < resident ? blocks : blocks / resident * resident;
}

} // namespace warplens::model
