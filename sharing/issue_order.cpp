#include "sharing/issue_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace warplens::sharing {

std::vector<std::uint32_t> issue_order(Priority priority, std::span<const ReadyWarp> warps,
                                       std::span<const std::uint32_t> waiting) {
  std::vector<std::uint32_t> order(warps.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto last = std::ranges::find_if(warps, &ReadyWarp::is_last_of_all);
  if (priority == Priority::loose_round_robin) {
    if (last != warps.end())
      std::ranges::rotate(order, order.begin() + (last - warps.begin() + 1));
    return order;
  }
  const bool by_blocks =
      priority != Priority::greedy_then_oldest && priority != Priority::greedy_then_longest;
  const bool greedy_first = !by_blocks || priority == Priority::greedy_blocks_longest;
  const bool longest = priority != Priority::greedy_then_oldest && priority != Priority::blocks_then_oldest;
  const auto rank = [&](std::uint32_t number) {
    const ReadyWarp& warp = warps[number];
    return std::tuple(!(greedy_first && warp.is_last_of_all),
                      by_blocks ? std::numeric_limits<std::uint32_t>::max() - waiting[warp.block] : 0,
                      by_blocks ? warp.block : 0, !(by_blocks && !greedy_first && warp.is_last_of_block),
                      longest ? std::numeric_limits<std::uint64_t>::max() - warp.idle : 0, number);
  };
  std::ranges::sort(order, {}, rank);
  return order;
}

} // namespace warplens::sharing
