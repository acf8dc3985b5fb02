// How much of a launch is traced, and how large a channel it gets.
#pragma once

#include "runtime/host/channel_memory.h"
#include "runtime/host/settings.h"
#include "support/expected.h"
#include "trace/records.h"

#include <cstddef>
#include <optional>

namespace warplens::runtime {

/// Blocks with consecutive ids from 0, as many as the settings ask for and the grid has: at least; and at
/// most, as long as there are not enough accesses.
struct SnapshotBlocks {
  std::uint64_t least = 0, most = 0;
};
SnapshotBlocks snapshot_blocks(const Settings& settings, const trace::Launch& launch);

/// A channel in this process's memory for launch.blocks blocks. Blocks look for a buffer from the first on,
/// so that memory is touched for as many as run at once only.
ring::Extent extent_on_host(const trace::Launch& launch);

/// A channel in memory of the given sizes, with as many buffers as leave room for a useful ring. The error
/// says that not one fits.
Expected<ring::Extent> extent_within(const trace::Launch& launch, std::size_t local_bytes,
                                     std::size_t shared_bytes);

} // namespace warplens::runtime
