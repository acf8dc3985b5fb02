#include "numeric/statistics.h"
#include "test/catch.h"

#include <numeric>

using namespace warplens;

TEST_CASE("Mean, deviation and intervals against known values") {
  // 1 … 10: mean 5.5, variance 55/6; Student's t for 9 degrees of freedom at 0.975 is 2.262157 (any table).
  std::vector<double> values(10);
  std::iota(values.begin(), values.end(), 1.0);
  const Statistic statistic = summarize(values);
  CHECK(statistic.mean == Approx(5.5));
  CHECK(statistic.std_deviation == Approx(std::sqrt(55.0 / 6)));
  const double half = 2.262157 * std::sqrt(55.0 / 6 / 10);
  CHECK(statistic.ci95[0] == Approx(5.5 - half).epsilon(1e-6));
  CHECK(statistic.ci95[1] == Approx(5.5 + half).epsilon(1e-6));
  CHECK(statistic.spread95[0] == Approx(5.5 - 2 * std::sqrt(55.0 / 6)));
  CHECK(statistic.spread95[1] == Approx(5.5 + 2 * std::sqrt(55.0 / 6)));

  // Four bins (the root of 10, rounded up) of width 2.25.
  REQUIRE(statistic.histogram.edges == std::vector<double>{1, 3.25, 5.5, 7.75, 10});
  CHECK(statistic.histogram.counts == std::vector<std::uint64_t>{3, 2, 2, 3});
}

TEST_CASE("Two values, t for one degree of freedom") {
  const Statistic statistic = summarize(std::vector<double>{0, 2});
  CHECK(statistic.mean == Approx(1));
  CHECK(statistic.std_deviation == Approx(std::sqrt(2.0)));
  CHECK(statistic.ci95[1] - 1 == Approx(12.7062).epsilon(1e-5)); // × √2 / √2
}

TEST_CASE("The part of the machine is what varies more than the order alone") {
  // Two machines, around 10 and 20; of each 3 trials that differ by 1: variance 1 within, 4 degrees of
  // freedom.
  const std::vector<double> values{9, 10, 11, 19, 20, 21};
  const std::vector<std::uint32_t> machines{0, 0, 0, 1, 1, 1};
  const Statistic statistic = summarize(values, machines);
  const double all = (6 * 25 + 4.0) / 5;
  CHECK(statistic.mean == Approx(15));
  CHECK(statistic.std_deviation == Approx(std::sqrt(all)));
  REQUIRE(statistic.machine_deviation);
  CHECK(*statistic.machine_deviation == Approx(std::sqrt(all - 1)));
  CHECK(statistic.ci95[1] - 15 ==
        Approx(2.776445 / std::sqrt(6)).epsilon(1e-6)); // t for 4 degrees of freedom
  // Machines that do not differ, and a single one, have no part.
  const std::vector<std::uint32_t> mixed{0, 1, 0, 1, 0, 1};
  CHECK(*summarize(std::vector<double>{1, 1, 2, 2, 3, 3}, mixed).machine_deviation == 0);
  CHECK_FALSE(summarize(values, std::vector<std::uint32_t>(6, 3)).machine_deviation);
}

TEST_CASE("A figure that does not vary") {
  const Statistic statistic = summarize(std::vector<double>(64, 0.875));
  CHECK(statistic.mean == 0.875);
  CHECK(statistic.std_deviation == 0);
  CHECK(statistic.ci95[0] == 0.875);
  CHECK(statistic.ci95[1] == 0.875);
  REQUIRE(statistic.histogram.counts == std::vector<std::uint64_t>{64});
  CHECK(statistic.histogram.edges[0] < 0.875);
  CHECK(statistic.histogram.edges[1] > 0.875);
}

TEST_CASE("Large values with a small deviation keep it") {
  const Statistic statistic = summarize(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3});
  CHECK(statistic.std_deviation == Approx(1));
}
