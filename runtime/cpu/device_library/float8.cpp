// Floating point in eight bits (PTX ISA, "Alternate Floating Point Data Formats"): e4m3, which has no
// infinity and one NaN of either sign, and e5m2, the upper half of a half.
#include "runtime/abi/intrinsics.h"

#include <cmath>

namespace {

struct Format {
  int fraction_bits, bias;
  std::uint32_t largest, nan; ///< the largest finite number's bits, without the sign
};
constexpr Format e4m3{3, 7, 0x7e, 0x7f}, e5m2{2, 15, 0x7b, 0x7f};

} // namespace

float __warplens_cpu_from_float8(std::uint32_t bits, std::uint32_t is_e5m2) {
  const Format& format = is_e5m2 ? e5m2 : e4m3;
  const std::uint32_t magnitude = bits & 0x7f, fraction = magnitude & ((1U << format.fraction_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> format.fraction_bits);
  float value = NAN;
  if (magnitude <= format.largest)
    value = std::ldexp(static_cast<float>(exponent ? fraction + (1U << format.fraction_bits) : fraction),
                       (exponent ? exponent : 1) - format.bias - format.fraction_bits);
  else if (is_e5m2 && fraction == 0)
    value = INFINITY;
  return std::copysign(value, bits & 0x80 ? -1.0F : 1.0F);
}

std::uint32_t __warplens_cpu_to_float8(float value, std::uint32_t is_e5m2) {
  const Format& format = is_e5m2 ? e5m2 : e4m3;
  if (std::isnan(value))
    return format.nan;
  const std::uint32_t sign = std::signbit(value) ? 0x80 : 0;
  const float magnitude = std::abs(value);
  if (magnitude >= __warplens_cpu_from_float8(format.largest, is_e5m2))
    return sign | format.largest;
  if (magnitude == 0)
    return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int least = 2 - format.bias; // the least exponent of normal numbers
  const int step = (exponent > least ? exponent : least) - 1 - format.fraction_bits;
  // Rounds to even in steps of the last bit; one step too many is the next power of two, whose bits follow.
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
  const std::uint32_t stored = exponent > least ? static_cast<std::uint32_t>(exponent - 1 + format.bias) : 1U;
  const std::uint32_t bits = ((stored - 1) << format.fraction_bits) + steps;
  return sign | (bits < format.largest ? bits : format.largest);
}
