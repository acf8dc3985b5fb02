// What lies in the L2 when a launch begins, as far as the trace tells.
#pragma once

#include "model/l2.h"
#include "model/memory_history.h"
#include "result/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace warplens::model {

struct L2Before {
  std::optional<L2> l2; ///< for each trial to begin with a copy of; empty: it begins empty
  L2Start start{.warm = false, .bytes = 0, .why = "as asked for"};
};

/// Of the lines used last, twice as many as an L2 holds: sets are not used equally. One of blocks of 32 bytes
/// may hold one of each line.
std::uint64_t lines_that_matter(const Gpu& gpu);
std::uint64_t lines_that_matter(const std::vector<Gpu>& gpus); ///< to the largest of them

/// An L2 through which the lines have gone that matter and are known; none where there are none. Copies and
/// fills go through the L2 as accesses of SMs do; no partition has copies of its own yet. Lines are numbered
/// as the snapshot's, those of pages that it does not touch behind its own.
L2Before l2_before(const MemoryHistory& history, const Snapshot& snapshot, const Gpu& gpu);

} // namespace warplens::model
