#include "power/time_sharing.h"
#include "test/catch.h"

#include <vector>

using namespace warplens::power;

TEST_CASE("Processes that take turns") {
  CHECK(mean_over_combinations(std::vector<double>{31, 27}) == Approx(29).epsilon(1e-6));
  const std::vector<double> without{31}, with{25};
  CHECK(power_after({2, 1, 5, without, with, 40}) == Approx(73).epsilon(1e-6));
}
