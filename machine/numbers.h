// Arithmetic as NVIDIA's GPUs do it, for one lane: rounding modes, NaNs, halves, special functions. All
// functions are inline, so that loops over the lanes of a warp become vector code; the file must be compiled
// without contraction of floating-point operations.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace warplens::machine {

/// The NaNs that arithmetic results in.
inline constexpr std::uint32_t nan_bits = 0x7fffffff;
inline constexpr std::uint64_t double_nan_bits = 0xfff8000000000000;
inline constexpr std::uint16_t half_nan_bits = 0x7fff;

inline float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline double as_double(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

inline std::uint32_t canonical(float value) {
  return value != value ? nan_bits : bits_of(value);
}
inline std::uint64_t canonical(double value) {
  return value != value ? double_nan_bits : bits_of(value);
}

/// Replaces a denormal number by a zero of its sign.
inline float flush(float value) {
  const std::uint32_t bits = bits_of(value);
  return (bits & 0x7f800000) == 0 ? as_float(bits & 0x80000000) : value;
}

/// Limits a number to [0, 1]; a NaN becomes 0.
inline float saturate(float value) {
  return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
}

/// Returns a sum, rounded to odd: if it is not exact, the last bit of the truncated sum is set. A later
/// rounding to fewer bits, of any mode, is then that of the exact sum.
inline double sum_to_odd(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  const std::uint64_t bits = bits_of(sum);
  if (error == 0 || (bits & 1) != 0 || !(std::fabs(sum) <= std::numeric_limits<double>::max()))
    return sum;
  return as_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
inline float sum_to_odd(float x, float y) {
  const float sum = x + y;
  const float part = sum - x;
  const float error = (x - (sum - part)) + (y - part);
  const std::uint32_t bits = bits_of(sum);
  const bool adjusts = error != 0 && (bits & 1) == 0 && (bits & 0x7f800000) != 0x7f800000;
  const std::uint32_t towards = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return as_float(adjusts ? towards : bits);
}

/// Rounding modes, in the order of the instructions' field.
enum class Direction : std::uint8_t { nearest, down, up, zero };

/// Rounds a number to a format of `precision` bits with exponents from `min_exponent` to `max_exponent`,
/// whose denormal numbers have the unit of the lowest exponent.
inline double round_to(double value, int precision, int min_exponent, int max_exponent, Direction mode) {
  if (value == 0 || !(std::fabs(value) <= std::numeric_limits<double>::max()))
    return value;
  int exponent = 0;
  std::frexp(value, &exponent); // value = m · 2^exponent, m in [0.5, 1)
  const int unit = std::max(exponent - precision, min_exponent - precision + 1);
  const double scaled = std::ldexp(value, -unit);
  double rounded = scaled;
  switch (mode) {
  case Direction::nearest: rounded = std::nearbyint(scaled); break;
  case Direction::down: rounded = std::floor(scaled); break;
  case Direction::up: rounded = std::ceil(scaled); break;
  case Direction::zero: rounded = std::trunc(scaled); break;
  }
  const double result = std::copysign(std::ldexp(rounded, unit), value);
  const double largest = std::ldexp(std::ldexp(1.0, precision) - 1, max_exponent - precision + 1);
  if (std::fabs(result) <= largest)
    return result;
  const bool to_infinity = mode == Direction::nearest || (mode == Direction::up && value > 0) ||
                           (mode == Direction::down && value < 0);
  return std::copysign(to_infinity ? std::numeric_limits<double>::infinity() : largest, value);
}
inline float round_to_float(double value, Direction mode) {
  return mode == Direction::nearest ? static_cast<float>(value)
                                    : static_cast<float>(round_to(value, 24, -126, 127, mode));
}

inline float half_to_float(std::uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}
inline float bfloat_to_float(std::uint16_t bits) {
  return as_float(std::uint32_t{bits} << 16);
}
/// Rounds to nearest. A NaN becomes the canonical one.
inline std::uint16_t float_to_half(float value) {
  const std::uint16_t bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  return value != value ? half_nan_bits : bits;
}
inline std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>(value != value ? half_nan_bits : rounded);
}
inline std::uint16_t double_to_half(double value, Direction mode) {
  return float_to_half(static_cast<float>(round_to(value, 11, -14, 15, mode)));
}
inline std::uint16_t double_to_bfloat(double value, Direction mode) {
  return float_to_bfloat(static_cast<float>(round_to(value, 8, -126, 127, mode)));
}

// ---- the special function unit: correctly rounded nearly always, where the hardware is off by an ulp or two

/// 2^x for |x| up to some hundreds, by its Taylor series about the nearest integer: relative error 2e-13.
inline double power_of_two(double x) {
  constexpr double ln2 = 0.69314718055994530942;
  const double whole = (x + 0x1.8p52) - 0x1.8p52;
  const double y = (x - whole) * ln2;
  double sum = 1.0 / 3628800;
  constexpr double factors[] = {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                1.0 / 24,     1.0 / 6,     0.5,        1.0,       1.0};
  for (const double factor : factors)
    sum = sum * y + factor;
  const auto exponent = static_cast<std::int64_t>(bits_of(x + 0x1.8p52) << 12) >> 12;
  return sum * as_double(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline std::uint32_t special_exp2(std::uint32_t bits) {
  const float x = flush(as_float(bits));
  const float limited = x > 130 ? 130.0f : x < -140 ? -140.0f : x;
  const float result = static_cast<float>(power_of_two(x != x ? 0.0 : static_cast<double>(limited)));
  return x != x ? nan_bits : bits_of(flush(result));
}

inline std::uint32_t special_log2(std::uint32_t bits) {
  const float x = flush(as_float(bits));
  // x = 2^exponent · m with m in [sqrt(1/2), sqrt(2)); log2(m) by the series of the inverse tangent.
  const std::uint32_t shifted = bits_of(x) - 0x3f3504f3;
  const auto exponent = static_cast<std::int32_t>(shifted) >> 23;
  const double m = as_float((shifted & 0x007fffff) + 0x3f3504f3);
  const double t = (m - 1) / (m + 1), square = t * t;
  double sum = 1.0 / 17;
  constexpr double factors[] = {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0};
  for (const double factor : factors)
    sum = sum * square + factor;
  const double log2 = static_cast<double>(exponent) + sum * t * 2.88539008177792681472;
  const float infinity = std::numeric_limits<float>::infinity();
  std::uint32_t result = bits_of(static_cast<float>(log2));
  result = x == infinity ? bits_of(infinity) : result;
  result = x == 0 ? bits_of(-infinity) : result;
  return x < 0 || x != x ? nan_bits : result;
}

/// The sine of 2πx, or its cosine.
inline std::uint32_t special_sine(std::uint32_t bits, bool cosine) {
  const float value = flush(as_float(bits));
  const bool finite = (bits & 0x7f800000) != 0x7f800000;
  const bool large = std::fabs(value) >= 0x1p23f; // a whole number of turns
  const double x = finite && !large ? static_cast<double>(value) : 0.0;
  const double quarters = (x * 4 + 0x1.8p52) - 0x1.8p52;
  const double y = (x - quarters * 0.25) * 6.28318530717958647693, square = y * y;
  const auto quadrant = bits_of(x * 4 + 0x1.8p52) + (cosine ? 1 : 0);
  double sine = -1.0 / 1307674368000.0, cos = -1.0 / 87178291200.0;
  constexpr double sines[] = {1.0 / 6227020800.0, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                              1.0 / 120,          -1.0 / 6,        1.0};
  constexpr double cosines[] = {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
                                1.0 / 24,        -0.5,           1.0};
  for (const double factor : sines)
    sine = sine * square + factor;
  for (const double factor : cosines)
    cos = cos * square + factor;
  const double chosen = (quadrant & 1) != 0 ? cos : sine * y;
  const float result = static_cast<float>((quadrant & 2) != 0 ? -chosen : chosen);
  return finite ? bits_of(result) : nan_bits;
}

inline std::uint32_t special_reciprocal(std::uint32_t bits) {
  return canonical(flush(1.0f / flush(as_float(bits))));
}
inline std::uint32_t special_reciprocal_root(std::uint32_t bits) {
  return canonical(static_cast<float>(1.0 / std::sqrt(static_cast<double>(flush(as_float(bits))))));
}
inline std::uint32_t special_root(std::uint32_t bits) {
  return canonical(std::sqrt(flush(as_float(bits))));
}

} // namespace warplens::machine
