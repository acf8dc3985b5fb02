// The content of the L2 when a launch begins, as far as the trace shows it.
#pragma once

#include "model/cache/l2.h"
#include "model/snapshot/memory_history.h"
#include "result/result.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace warplens::model {

struct L2Before {
  std::vector<L2> l2; ///< each trial begins with copies of its partitions; empty: with an empty L2
  L2Start start{.warm = false, .bytes = 0, .why = "as asked for"};
};

/// Returns how many of the lines used last can be in the GPU's L2: twice as many as it holds, as its sets are
/// not used equally. An L2 of blocks of 32 bytes may hold a single block of each line.
std::uint64_t lines_that_matter(const Gpu& gpu);
std::uint64_t lines_that_matter(const std::vector<Gpu>& gpus); ///< to the largest of them

/// The part of the lines in an L2 that a smaller one has.
struct PartOfLines {
  std::uint64_t matter = 0; ///< lines_that_matter() to that one
  std::function<bool(std::uint32_t line)> keeps;
};

/// Replays the known lines that matter in an L2, and returns it; none where there are no such lines. Copies
/// and fills use the L2 as accesses of SMs do. Lines have the snapshot's numbers, those of pages that it does
/// not touch come after its own. `partitions`: how many parts the L2 is modelled in, each of which keeps the
/// lines that belong to it. `part`: which of the lines it is to have; null: all.
L2Before l2_before(const MemoryHistory& history, const Snapshot& snapshot, const Gpu& gpu,
                   std::uint32_t partitions, const PartOfLines* part = nullptr);

} // namespace warplens::model
