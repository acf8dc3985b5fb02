// Arithmetic of bfloat16, for which C++ has no type yet: rounded once, to nearest, as by PTX's fma.rn.bf16
// and cvt.rn.bf16.f64.
#include "runtime/abi/intrinsics.h"

#include <atomic>
#include <bit>
#include <cmath>

namespace {

constexpr std::uint16_t canonical_nan = 0x7fff;

double to_double(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// Rounds an inexact value to the neighbour with an odd last bit: rounding the result again, to at least two
/// bits less, equals one rounding of the exact value.
float to_float_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value)
    return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(back) > std::abs(value))
    --bits; // towards zero
  return std::bit_cast<float>(bits | 1);
}

std::uint16_t to_bfloat(double value) {
  if (std::isnan(value))
    return canonical_nan;
  const auto bits = std::bit_cast<std::uint32_t>(to_float_odd(value));
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace

std::uint16_t __warplens_cpu_double_to_bfloat(double value) {
  return to_bfloat(value);
}

std::uint16_t __warplens_cpu_bfloat_fma(std::uint16_t x, std::uint16_t y, std::uint16_t z) {
  const double product = to_double(x) * to_double(y), addend = to_double(z); // the product is exact
  const double sum = product + addend;
  if (!std::isfinite(sum))
    return to_bfloat(sum);
  // The sum's error (Knuth's TwoSum) makes its last bit odd, as in to_float_odd.
  const double of_addend = sum - product, lost = (product - (sum - of_addend)) + (addend - of_addend);
  if (lost == 0)
    return to_bfloat(sum);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (std::signbit(lost) != std::signbit(sum))
    --bits;
  return to_bfloat(std::bit_cast<double>(bits | 1));
}

std::uint16_t __warplens_cpu_atomic_add_bfloat(std::uint16_t* place, std::uint16_t value) {
  constexpr std::uint16_t one = 0x3f80;
  const std::atomic_ref at(*place);
  std::uint16_t before = at.load();
  while (!at.compare_exchange_weak(before, __warplens_cpu_bfloat_fma(before, one, value))) {
  }
  return before;
}
