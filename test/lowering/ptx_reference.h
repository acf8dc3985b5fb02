// Slow and plain floating-point arithmetic on bits, the reference for PTX's instructions.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace warplens::test {

/// 113 bits of precision: holds every double and 64-bit integer, and exact products of narrower formats.
__extension__ typedef __float128 Exact;

struct Format {
  const char* name; ///< PTX's name
  unsigned bits, fraction_bits;

  unsigned exponent_bits() const { return bits - 1 - fraction_bits; }
  int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
  std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits()) - 1) << fraction_bits; }
  double min_normal() const { return std::ldexp(1.0, 1 - bias()); }
};

inline constexpr Format half_precision{"f16", 16, 10}, brain_precision{"bf16", 16, 7},
    single_precision{"f32", 32, 23}, double_precision{"f64", 64, 52};

inline double to_double(std::uint64_t bits, const Format& format) {
  const bool negative = bits & format.sign();
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const auto exponent =
      static_cast<int>((bits & ~format.sign() & (format.sign() * 2 - 1)) >> format.fraction_bits);
  double value = 0;
  if (exponent == (1 << format.exponent_bits()) - 1)
    value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value =
        std::ldexp(static_cast<double>(fraction), 1 - format.bias() - static_cast<int>(format.fraction_bits));
  else
    value = std::ldexp(static_cast<double>(fraction | std::uint64_t{1} << format.fraction_bits),
                       exponent - format.bias() - static_cast<int>(format.fraction_bits));
  return negative ? -value : value;
}

/// Returns FE_TONEAREST, … for "rn", "rz", "rm" and "rp".
inline int rounding_mode(const std::string& name) {
  return name == "rz" ? FE_TOWARDZERO : name == "rm" ? FE_DOWNWARD : name == "rp" ? FE_UPWARD : FE_TONEAREST;
}

/// Returns the value in the format, rounded once. NaN is the format's with all fraction bits set.
inline std::uint64_t encode(Exact value, const Format& format, int mode) {
  __extension__ typedef unsigned __int128 Bits;
  const auto bits = std::bit_cast<Bits>(value);
  constexpr unsigned fraction = 112;
  constexpr int bias = 16383, special = 32767;
  const std::uint64_t sign = bits >> 127 ? format.sign() : 0;
  const auto exponent = static_cast<int>(bits >> fraction & special);
  Bits significand = bits & ((Bits{1} << fraction) - 1);
  if (exponent == special)
    return sign | format.infinity() |
           (significand ? format.infinity() | ((std::uint64_t{1} << format.fraction_bits) - 1) : 0);
  if (exponent == 0)
    return sign; // zero, or far too small: no reference value is subnormal in 113 bits
  significand |= Bits{1} << fraction;
  int unbiased = exponent - bias;
  unsigned cut = fraction - format.fraction_bits;
  if (unbiased < 1 - format.bias()) { // subnormal: fewer bits
    cut += static_cast<unsigned>(1 - format.bias() - unbiased);
    unbiased = 1 - format.bias();
  }
  const bool nothing_left = cut > fraction + 2;
  Bits kept = nothing_left ? 0 : significand >> cut;
  const Bits rest = nothing_left ? 1 : significand & ((Bits{1} << cut) - 1);
  const Bits middle = nothing_left ? 2 : Bits{1} << (cut - 1);
  const bool away = mode == FE_TONEAREST    ? rest > middle || (rest == middle && (kept & 1))
                    : mode == FE_TOWARDZERO ? false
                    : mode == FE_UPWARD     ? rest && !sign
                                            : rest && sign;
  kept += away;
  if (kept >> (format.fraction_bits + 1)) { // carried into the next power of two
    kept >>= 1;
    ++unbiased;
  }
  if (unbiased > format.bias()) {
    const bool to_infinity =
        mode == FE_TONEAREST || (mode == FE_UPWARD && !sign) || (mode == FE_DOWNWARD && sign);
    return sign | (to_infinity ? format.infinity() : format.infinity() - 1);
  }
  const Bits hidden = Bits{1} << format.fraction_bits;
  const std::uint64_t stored = kept & hidden ? static_cast<std::uint64_t>(unbiased + format.bias()) : 0;
  return sign | stored << format.fraction_bits | static_cast<std::uint64_t>(kept & (hidden - 1));
}

/// Computes the host's own operation on single or double precision, in the rounding mode.
template <class Operation>
std::uint64_t by_host(std::uint64_t a, std::uint64_t b, std::uint64_t c, const Format& format, int mode,
                      Operation operation) {
  const int before = std::fegetround();
  std::uint64_t result = 0;
  if (format.bits == 32) {
    volatile float x = std::bit_cast<float>(static_cast<std::uint32_t>(a)),
                   y = std::bit_cast<float>(static_cast<std::uint32_t>(b)),
                   z = std::bit_cast<float>(static_cast<std::uint32_t>(c));
    std::fesetround(mode);
    volatile float value = operation(float{x}, float{y}, float{z});
    std::fesetround(before);
    result = std::bit_cast<std::uint32_t>(float{value});
  } else {
    volatile double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), z = std::bit_cast<double>(c);
    std::fesetround(mode);
    volatile double value = operation(double{x}, double{y}, double{z});
    std::fesetround(before);
    result = std::bit_cast<std::uint64_t>(double{value});
  }
  return result;
}

/// Returns x + y with the last of 113 bits odd if it is not exact, so that rounding it again does no harm.
inline Exact added(Exact x, Exact y) {
  __extension__ typedef unsigned __int128 Bits;
  const Exact sum = x + y;
  const double rough = static_cast<double>(sum);
  if (std::isnan(rough) || sum == 0 || sum - sum != 0)
    return sum;
  const Exact of_y = sum - x, lost = (x - (sum - of_y)) + (y - of_y);
  if (lost == 0)
    return sum;
  auto bits = std::bit_cast<Bits>(sum);
  if ((lost < 0) != (sum < 0))
    --bits;
  return std::bit_cast<Exact>(bits | 1);
}

inline std::uint64_t exactly_added(std::uint64_t a, std::uint64_t b, const Format& format, int mode) {
  if (format.bits == 16)
    return encode(added(to_double(a, format), to_double(b, format)), format, mode);
  return by_host(a, b, 0, format, mode, [](auto x, auto y, auto) { return x + y; });
}

inline std::uint64_t exactly_multiplied(std::uint64_t a, std::uint64_t b, const Format& format, int mode) {
  if (format.bits == 16)
    return encode(Exact{to_double(a, format)} * Exact{to_double(b, format)}, format, mode);
  return by_host(a, b, 0, format, mode, [](auto x, auto y, auto) { return x * y; });
}

inline std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c, const Format& format,
                           int mode) {
  if (format.bits == 16)
    return encode(added(Exact{to_double(a, format)} * Exact{to_double(b, format)}, to_double(c, format)),
                  format, mode);
  return by_host(a, b, c, format, mode, [](auto x, auto y, auto z) { return std::fma(x, y, z); });
}

inline std::uint64_t divided(std::uint64_t a, std::uint64_t b, const Format& format, int mode) {
  return by_host(a, b, 0, format, mode, [](auto x, auto y, auto) { return x / y; });
}

inline std::uint64_t square_root(std::uint64_t a, const Format& format, int mode) {
  return by_host(a, 0, 0, format, mode, [](auto x, auto, auto) { return std::sqrt(x); });
}

/// Computes min or max: of a NaN and a number it returns the number, unless NaN propagates; -0 is less than
/// +0.
inline std::uint64_t picked(std::uint64_t a, std::uint64_t b, const Format& format, bool least,
                            bool propagates_nan) {
  const double x = to_double(a, format), y = to_double(b, format);
  if (std::isnan(x) || std::isnan(y))
    return propagates_nan || (std::isnan(x) && std::isnan(y)) ? encode(std::nan(""), format, FE_TONEAREST)
           : std::isnan(x)                                    ? b
                                                              : a;
  const bool a_first = x < y || (x == y && std::signbit(x) > std::signbit(y));
  return a_first == least ? a : b;
}

/// Implements .ftz.
inline std::uint64_t flush(std::uint64_t bits, const Format& format) {
  return std::abs(to_double(bits, format)) < format.min_normal() ? bits & format.sign() : bits;
}

/// Implements .sat.
inline std::uint64_t saturate(std::uint64_t bits, const Format& format) {
  const double value = to_double(bits, format);
  return value >= 1 ? encode(1.0, format, FE_TONEAREST) : value > 0 ? bits : 0;
}

inline double rounded_to_integer(double value, int mode) {
  return mode == FE_TOWARDZERO ? std::trunc(value)
         : mode == FE_DOWNWARD ? std::floor(value)
         : mode == FE_UPWARD   ? std::ceil(value)
                               : std::nearbyint(value);
}

} // namespace warplens::test
