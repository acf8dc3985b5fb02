// The part of a launch that is traced, and the size of its channel.
#pragma once

#include "runtime/host/channel_memory.h"
#include "runtime/host/settings.h"
#include "support/expected.h"
#include "trace/records.h"

#include <cstddef>
#include <optional>

namespace warplens::runtime {

/// The number of blocks, with consecutive ids from 0, according to the settings and the grid: `least` at
/// least, and up to `most` until there are enough accesses.
struct SnapshotBlocks {
  std::uint64_t least = 0, most = 0;
  std::uint64_t wave = 0; ///< that run at once, at most
};

/// Returns how many of the launch's blocks an SM holds at most, by its registers and shared memory, whatever
/// GPU of today it belongs to: one of Volta or newer.
std::uint64_t max_blocks_of_sm(const trace::Launch& launch);

SnapshotBlocks snapshot_blocks(const Settings& settings, const trace::Launch& launch);

/// Returns the extent of a channel in this process's memory for launch.blocks blocks. Blocks search for a
/// buffer from the first on, so that only the memory of those that run at once is touched.
ring::Extent extent_on_host(const trace::Launch& launch);

/// Returns the extent of a channel in memory of the given sizes, with as many buffers as permit a useful
/// ring. It is an error if none fits.
Expected<ring::Extent> extent_within(const trace::Launch& launch, std::size_t local_bytes,
                                     std::size_t shared_bytes);

} // namespace warplens::runtime
