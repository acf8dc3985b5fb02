// Floats of 8 bits and fewer (PTX ISA, "Alternate Floating-Point Data Formats"; OCP Microscaling Formats,
// table 1). Only e5m2 has infinities, and e4m3 a NaN beside it.
#pragma once

#include "machine/numbers.h"
#include "sass/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace warplens::machine {

struct SmallFloatFormat {
  std::uint32_t exponent_bits = 0, fraction_bits = 0;
  double largest = 0;    ///< finite
  std::uint32_t nan = 0; ///< what a NaN becomes
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

inline SmallFloatFormat format_of(sass::SmallFloat kind) {
  using sass::SmallFloat;
  switch (kind) {
  case SmallFloat::e4m3: return {4, 3, 448, 0x7f};
  case SmallFloat::e5m2: return {5, 2, 57344, 0x7f};
  case SmallFloat::e3m2: return {3, 2, 28, 0x1f};
  case SmallFloat::e2m3: return {2, 3, 7.5, 0x1f};
  case SmallFloat::e8m0: // a power of two, which has functions of its own
  case SmallFloat::e2m1: break;
  }
  return {2, 1, 6, 0x7};
}

/// Returns the value of a power of two, of which 0xff is the NaN.
inline double power_of_two(std::uint32_t bits) {
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int(bits) - 127);
}

/// Rounds the size of a number to a power of two, towards zero or up. What is too large becomes the largest
/// if it saturates, else the NaN.
inline std::uint32_t to_power_of_two(double value, bool up, bool saturates) {
  if (value != value)
    return 0xff;
  int exponent = 0;
  const bool is_power = std::frexp(std::fabs(value), &exponent) == 0.5;
  if (value == 0)
    return 0;
  if (std::isinf(value))
    return saturates ? 0xfe : 0xff;
  const int bits = exponent - 1 + 127 + (up && !is_power);
  return bits > 0xfe ? (saturates ? 0xfe : 0xff) : std::uint32_t(std::max(bits, 0));
}

/// Returns the value of a small float in the low bits.
inline double small_float(sass::SmallFloat kind, std::uint32_t bits) {
  if (kind == sass::SmallFloat::e8m0)
    return power_of_two(bits & 0xff);
  if (kind == sass::SmallFloat::e5m2)
    return half_to_float(static_cast<std::uint16_t>((bits & 0xff) << 8));
  if (kind == sass::SmallFloat::e4m3 && (bits & 0x7f) == 0x7f)
    return std::numeric_limits<double>::quiet_NaN();
  const SmallFloatFormat format = format_of(kind);
  const std::uint32_t exponent = bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1);
  const std::uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
  const std::uint32_t whole = exponent == 0 ? fraction : (1u << format.fraction_bits) + fraction;
  const double size =
      std::ldexp(whole, std::max(int(exponent), 1) - format.bias() - int(format.fraction_bits));
  return (bits >> (format.exponent_bits + format.fraction_bits) & 1) != 0 ? -size : size;
}

/// Rounds to the nearest small float; what is too large becomes the largest.
inline std::uint32_t to_small_float(sass::SmallFloat kind, double value) {
  const SmallFloatFormat format = format_of(kind);
  if (value != value)
    return format.nan;
  const int min_exponent = 1 - format.bias();
  const double size =
      std::min(std::fabs(round_to(std::min(std::fabs(value), 1e30), int(format.fraction_bits) + 1,
                                  min_exponent, 1023, Direction::nearest)),
               format.largest);
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = std::max(exponent - 1, min_exponent);
  const auto whole = static_cast<std::uint32_t>(std::ldexp(size, int(format.fraction_bits) - exponent));
  const std::uint32_t one = 1u << format.fraction_bits;
  const std::uint32_t bits =
      whole < one ? whole
                  : std::uint32_t(exponent - min_exponent + 1) << format.fraction_bits | (whole - one);
  return bits | std::uint32_t{std::signbit(value)} << (format.exponent_bits + format.fraction_bits);
}

} // namespace warplens::machine
