// The order in which a scheduler's warps may issue, for the policies of chapter 7 of Chi Xu's thesis
// (University of Minnesota 2016): the thread-block-aware ones (TAWS) take first the blocks that have the most
// warps waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warplens::sharing {

enum class Priority : std::uint8_t {
  loose_round_robin,    ///< LRR: circular, after the warp that issued last
  greedy_then_oldest,   ///< GTO: the warp that issued last, then by age
  greedy_then_longest,  ///< GTLS: the warp that issued last, then those that issued longest ago, older ones
                        ///< first
  blocks_then_oldest,   ///< GTO-TAWS: blocks by waiting warps; in each, its last issued warp, then by age
  blocks_then_longest,  ///< GTLS-TAWS: likewise, then those that issued longest ago
  greedy_blocks_longest ///< the warp that issued last, then blocks, and in each those that issued longest ago
};

/// A warp that could issue. They are numbered by age: by their blocks' arrival, then within the block.
struct ReadyWarp {
  std::uint32_t block = 0;
  std::uint64_t idle = 0;        ///< cycles since it issued, or since its block arrived
  bool is_last_of_block = false; ///< it issued last of its block's warps
  bool is_last_of_all = false;   ///< it issued last of the scheduler's warps
};

/// Returns the numbers of the warps, the first to issue first. `waiting[b]`: the warps of block b, of all
/// schedulers, that wait at its barrier or have ended; used by the block-aware priorities only.
std::vector<std::uint32_t> issue_order(Priority priority, std::span<const ReadyWarp> warps,
                                       std::span<const std::uint32_t> waiting);

} // namespace warplens::sharing
