// How much of a launch stands for all of it.
#pragma once

#include "model/gpu.h"
#include "model/snapshot.h"

namespace warplens::model {

/// By the GPU's size. At least: the threads in flight at once, times a depth in time of 2 or more, enough to
/// fill the L2 if each thread brought in 64 bytes of its own. At most: 32 times the threads in flight.
struct SnapshotThreads {
  std::uint64_t least, most;
};
SnapshotThreads snapshot_threads(const Gpu& gpu);

/// By the kernel's accesses: between the two, blocks are added until there are so many accesses to the memory
/// hierarchy, or so many transactions. A kernel whose threads do little is seen over many blocks, one whose
/// threads do much over few.
inline constexpr std::uint64_t enough_accesses = 1u << 20, enough_transactions = 1u << 22;

/// Whole blocks that hold so many threads.
std::uint64_t blocks_with(std::uint64_t threads, const trace::Launch& launch);

/// How many of the launch's blocks this GPU asks for, of which `resident` run at once: a multiple of those
/// (or the whole grid), as a last round that does not fill the SMs would be seen too often. `deepest`: the
/// snapshot of all blocks that it may ask for, or of all that there are.
std::uint64_t snapshot_blocks(const Snapshot& deepest, const trace::Launch& launch, const Gpu& gpu,
                              std::uint64_t resident);

} // namespace warplens::model
