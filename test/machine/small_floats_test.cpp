#include "machine/small_floats.h"
#include "test/catch.h"

#include <cmath>
#include <random>

using namespace warplens;
using sass::SmallFloat;

namespace {

unsigned bits_of(SmallFloat kind) {
  const machine::SmallFloatFormat format = machine::format_of(kind);
  return 1 + format.exponent_bits + format.fraction_bits;
}

/// Returns the code of the nearest finite number; of two that are as near, that with an even code.
std::uint32_t nearest(SmallFloat kind, double value) {
  std::uint32_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t code = 0; code < 1u << bits_of(kind); ++code) {
    const double at = machine::small_float(kind, code);
    if (!std::isfinite(at) || std::signbit(at) != std::signbit(value))
      continue;
    const double distance = std::fabs(at - value);
    if (distance < least || (distance == least && code % 2 == 0))
      std::tie(least, best) = std::pair(distance, code);
  }
  return best;
}

} // namespace

TEST_CASE("small floats are the nearest to a number, and no larger than the largest") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> fraction(-2, 2);
  std::uniform_int_distribution<int> exponent(-20, 20);
  for (const SmallFloat kind :
       {SmallFloat::e4m3, SmallFloat::e5m2, SmallFloat::e3m2, SmallFloat::e2m3, SmallFloat::e2m1}) {
    CAPTURE(int(kind));
    CHECK(machine::small_float(kind, 0) == 0);
    for (std::uint32_t code = 0; code < 1u << bits_of(kind); ++code)
      if (const double value = machine::small_float(kind, code); std::isfinite(value))
        CHECK(machine::to_small_float(kind, value) == code);
    for (int i = 0; i < 20'000; ++i) {
      // Few bits behind the point: many numbers lie in the middle of two.
      const double value = std::ldexp(std::round(fraction(random) * 32) / 32, exponent(random));
      const std::uint32_t code = machine::to_small_float(kind, value);
      if (code != nearest(kind, value)) {
        CAPTURE(value);
        CHECK(code == nearest(kind, value));
      }
    }
    CHECK(machine::to_small_float(kind, std::nan("")) == machine::format_of(kind).nan);
    CHECK(machine::small_float(kind, machine::to_small_float(kind, 1e9)) == machine::format_of(kind).largest);
  }
}
