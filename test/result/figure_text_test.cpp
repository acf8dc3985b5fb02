#include "result/figure_text.h"
#include "support/terminal_text.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <cmath>
#include <limits>

using namespace warplens;
using test::statistic;

TEST_CASE("digits are grouped by thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("counts keep five characters") {
  CHECK(short_count(0) == "0");
  CHECK(short_count(99999) == "99999");
  CHECK(short_count(100000) == "100k");
  CHECK(short_count(1234567) == "1.23M");
  CHECK(short_count(999.6e6) == "1.00G");
  CHECK(short_count(45.6e9) == "45.6G");
  for (double value = 1; value < 1e20; value *= 1.7)
    CHECK(short_count(value).size() <= 5);
}

TEST_CASE("absent and impossible figures are a dash") {
  CHECK(rate(std::nullopt) == "-");
  CHECK(nanoseconds(std::nullopt) == "-");
  CHECK(ratio(std::nullopt) == "-");
  CHECK(share(std::nullopt) == "-");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(ratio(nan) == "-");
  CHECK(share(nan) == "-");
  CHECK(nanoseconds(statistic(nan, 1)) == "-");
}

TEST_CASE("an uncertainty is shown if it is not negligible") {
  CHECK(rate(statistic(0.431, 0.0001)) == "43.1");
  CHECK(rate(statistic(0.431, 0.003)) == "43.1±0.6");
  CHECK(rate(statistic(0.55, 0.06)) == "55±12");
  CHECK(rate(statistic(1, 0)) == "100.0");
  CHECK(rate(statistic(0.9999, 0.004)) == "100±1");
  CHECK(nanoseconds(statistic(612, 0.4)) == "612");
  CHECK(nanoseconds(statistic(1205.4, 30)) == "1205±60");
  CHECK(nanoseconds(statistic(1.25, 0.1)) == "1.2±0.2");
}

TEST_CASE("waits and durations") {
  CHECK(cycles(std::nullopt) == "-");
  CHECK(cycles(statistic(0, 0)) == "0");
  CHECK(cycles(statistic(0.5, 0)) == "0.5");
  CHECK(cycles(statistic(512, 8)) == "512±16");
  CHECK(duration(statistic(123.4, 2)) == "123 ± 4 µs");
  CHECK(duration(statistic(123.4, 0.2)) == "123 µs");
  CHECK(duration(statistic(9.876, 0.05)) == "9.88 ± 0.10 µs");
  CHECK(duration(statistic(12'345, 160)) == "12.3 ± 0.3 ms");
  CHECK(duration(statistic(999.6, 0)) == "1.00 ms");
  CHECK(duration(statistic(4.5e9, 1e6)) == "4500 ± 2 s");
  CHECK(duration(statistic(0, 0)) == "0.00 µs");
  CHECK(duration(statistic(std::nan(""), 1)) == "-");
}

TEST_CASE("the spread's part of the order and that of the machine add up by their squares") {
  Statistic statistic = test::statistic(100, 5);
  CHECK(std_of_order(statistic) == Approx(5));
  statistic.machine_deviation = 4;
  CHECK(std_of_order(statistic) == Approx(3));
  statistic.machine_deviation = 5.5;
  CHECK(std_of_order(statistic) == 0);
}

TEST_CASE("no figure is wider than its column") {
  for (double mean : {0.0, 0.0004, 0.05, 0.5, 0.9, 0.9996, 1.0})
    for (double deviation : {0.0, 0.001, 0.0025, 0.004, 0.04, 0.0499, 0.3, 0.5}) {
      INFO(mean << " " << deviation);
      CHECK(width_of(rate(statistic(mean, deviation))) <= 8);
      CHECK(width_of(share(mean)) <= 3);
    }
  for (double mean = 0.01; mean < 1e15; mean *= 3)
    for (double factor : {0.0, 0.001, 0.01, 0.1, 1.0, 10.0}) {
      INFO(mean << " " << factor);
      CHECK(width_of(nanoseconds(statistic(mean, mean * factor))) <= 8);
      CHECK(width_of(cycles(statistic(mean, mean * factor))) <= 8);
    }
}

TEST_CASE("shares stay in their bounds, and bytes have decimal units") {
  CHECK(share(0.0451) == "4.5");
  CHECK(share(0.0996) == "10");
  CHECK(share(7.0) == "100");
  CHECK(bytes(999) == "999 B");
  CHECK(bytes(12.345e6) == "12.3 MB");
}
