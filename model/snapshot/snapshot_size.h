// The size of the snapshot that represents a launch.
#pragma once

#include "model/gpu/gpu.h"
#include "model/snapshot/snapshot.h"

#include <optional>
#include <span>
#include <vector>

namespace warplens::model {

/// The minimum and maximum number of a snapshot's threads.
struct SnapshotThreads {
  std::uint64_t min = 0, max = 0;
  std::uint64_t wave = 0; ///< in flight at once
  std::uint64_t sms = 0;  ///< that have these
};

/// Returns the limits that follow from the GPU's size. The minimum is the number of threads in flight at
/// once, times a depth in time of 2 or more that suffices to fill the L2 if each thread brings in 64 bytes of
/// its own. The maximum is 32 times the threads in flight, or the minimum if that is more.
SnapshotThreads snapshot_threads(const Gpu& gpu);

/// Returns the limits of a snapshot that serves each of these GPUs.
SnapshotThreads snapshot_threads(std::span<const Gpu> gpus);

/// If blocks that run at the same time would have more warp accesses than this, their loops need not be
/// whole.
inline constexpr std::uint64_t whole_accesses = 1u << 21;

/// Between the two limits, blocks are added until there are this number of accesses to the memory hierarchy,
/// or this number of transactions. The snapshot of a kernel whose threads do little has many blocks, that of
/// one whose threads do much has few.
inline constexpr std::uint64_t enough_accesses = 1u << 20, enough_transactions = 1u << 22;

/// Returns the number of whole blocks that hold this number of threads.
std::uint64_t blocks_with(std::uint64_t threads, const trace::Launch& launch);

/// The windows of a launch, ascending, of which each stands for blocks of its own.
using BlockWindows = std::vector<trace::BlockWindow>;

/// Returns the windows that the trace has: the first blocks, and those behind them whose work differs.
BlockWindows collected_windows(const trace::Launch& launch, const std::optional<trace::LaunchEnd>& end);

/// Returns the windows with the first one in pieces, each of about an eighth of what all stand for: where
/// work differs along the grid, it differs along a long window, too.
BlockWindows in_pieces(const BlockWindows& windows);

/// Returns whether the snapshot's first `blocks` blocks do about the same as those behind them: accesses and
/// transactions differ by a tenth at most, or by less than two standard errors.
bool is_even(const Snapshot& snapshot, std::uint64_t blocks);

/// Returns the total number of blocks in windows.
std::uint64_t blocks_of(const BlockWindows& windows);

/// Returns as many of the windows' blocks as `blocks` at most, from the first on in each, so that each window
/// has a share of them like that of the blocks that it stands for.
BlockWindows in_proportion(BlockWindows windows, std::uint64_t blocks);

/// Returns the largest multiple of `resident`, the blocks that run at once, among that many blocks: a last
/// wave that does not fill the SMs would weigh too much. The whole grid stays, and so does a part of a wave.
std::uint64_t in_whole_waves(std::uint64_t blocks, const trace::Launch& launch, std::uint64_t resident);

/// Returns the number of the launch's blocks that this GPU needs, in whole waves. `deepest` is the snapshot
/// of all blocks that it may need, or of all that the trace has, `windows` its blocks.
std::uint64_t snapshot_blocks(const Snapshot& deepest, const BlockWindows& windows,
                              const trace::Launch& launch, const Gpu& gpu, std::uint64_t resident);

} // namespace warplens::model
