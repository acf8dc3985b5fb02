// Parts of a block: each of its warps' accesses from one share of its bulks to another.
#pragma once

#include "model/snapshot/snapshot.h"

namespace warplens::model {

struct BlockPart {
  std::uint32_t block = 0; ///< index into Snapshot::blocks
  double from = 0, to = 1; ///< shares of each warp's bulks
};

/// The accesses of one warp in a part of its block, with their number of bulks.
struct WarpPart {
  const Access* begin = nullptr;
  const Access* end = nullptr;
  const Transaction* transactions = nullptr;
  std::uint32_t bulks = 0;
};
WarpPart part_of(const Warp& warp, double from, double to);
/// Returns the same for a block whose warps meet at barriers: each warp's cut is moved to between the
/// barriers that the cut of the longest warp lies between. Otherwise warps would meet at different barriers.
WarpPart part_of(const Warp& warp, const Snapshot& snapshot, const BlockPart& part);

/// A place in a warp's path (Snapshot::code), in front of a block.
struct PathPlace {
  const std::uint32_t* block = nullptr;       ///< in Path::blocks
  const std::uint8_t* makes_access = nullptr; ///< in Path::makes_access, of the block's first slot
  const Access* access = nullptr;             ///< the next one
  const Transaction* transactions = nullptr;
};
/// Returns the first place behind the warp's accesses before this one; the path's end behind the last one.
PathPlace place_at(const Code& code, const Warp& warp, const Access* access);

/// Returns the warp of the block that has the most bulks.
const Warp& longest_warp(const Snapshot& snapshot, const Snapshot::Block& block);

/// Returns whether the warp executes the site with which the bulk at this share begins several times more:
/// then the accesses just before it and just after it may be separated once without much harm.
bool is_in_loop(const Warp& warp, double share);

} // namespace warplens::model
