#include "sharing/issue_order.h"
#include "test/catch.h"

using namespace warplens::sharing;
using Order = std::vector<std::uint32_t>;

TEST_CASE("The order of six warps of three blocks") {
  // One scheduler has the warps 0, 1, 4, 5, 8 and 9; their places in the list are 0 to 5.
  const std::vector<ReadyWarp> warps{{0, 0, true, true},    {0, 5, false, false}, {1, 7, false, false},
                                     {1, 12, false, false}, {2, 3, true, false},  {2, 9, false, false}};
  const std::vector<std::uint32_t> waiting{1, 3, 3};
  const auto order = [&](Priority priority) {
    const Order numbers{0, 1, 4, 5, 8, 9};
    Order result;
    for (const std::uint32_t place : issue_order(priority, warps, waiting))
      result.push_back(numbers[place]);
    return result;
  };
  CHECK(order(Priority::loose_round_robin) == Order{1, 4, 5, 8, 9, 0});
  CHECK(order(Priority::greedy_then_oldest) == Order{0, 1, 4, 5, 8, 9});
  CHECK(order(Priority::greedy_then_longest) == Order{0, 5, 9, 4, 1, 8});
  CHECK(order(Priority::blocks_then_oldest) == Order{4, 5, 8, 9, 0, 1});
  CHECK(order(Priority::blocks_then_longest) == Order{5, 4, 8, 9, 0, 1});
  CHECK(order(Priority::greedy_blocks_longest) == Order{0, 5, 4, 9, 8, 1});
}
