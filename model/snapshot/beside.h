// One snapshot of several launches that run beside each other.
#pragma once

#include "model/snapshot/snapshot.h"
#include "support/expected.h"

#include <span>
#include <vector>

namespace warplens::model {

/// The parts of a joined snapshot that one of its launches has.
struct LaunchRange {
  std::uint32_t first_block = 0, blocks = 0; ///< in Snapshot::blocks
  std::uint32_t first_site = 0, sites = 0;   ///< in Snapshot::sites
  std::uint32_t first_instruction = 0;       ///< in Snapshot::code, where there is one
};

inline constexpr std::size_t max_joined_launches = 1024;

struct JoinedSnapshot {
  Snapshot snapshot; ///< as if one launch had the blocks of all; its sites are those of the launches, one
                     ///< after the other
  std::vector<LaunchRange> launches;
};

/// Joins snapshots. With `share_memory` equal addresses are the same memory, as those of two launches of one
/// program; else each launch has its own. The error says what cannot be joined: launches with and without
/// known code, of code for different architectures, too many, or too large together.
Expected<JoinedSnapshot> join(std::span<const Snapshot* const> snapshots, bool share_memory);

} // namespace warplens::model
