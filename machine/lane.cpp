#include "machine/lane.h"

#include "machine/integers.h"
#include "machine/numbers.h"
#include "machine/small_floats.h"

#include <algorithm>
#include <array>
#include <cfenv>

namespace warplens::machine {
namespace {

using sass::Opcode;
using sass::Operands;
using u128 = unsigned __int128;

u32 low(u64 value) {
  return static_cast<u32>(value);
}
u32 high(u64 value) {
  return static_cast<u32>(value >> 32);
}
u64 signed_product(u32 x, u32 y) {
  return static_cast<u64>(i64{static_cast<i32>(x)} * i64{static_cast<i32>(y)});
}
u64 product(const Operands& o, u32 x, u32 y) {
  return o.is_signed ? signed_product(x, y) : u64{x} * y;
}
bool combine(std::uint8_t boolean, bool x, bool y) {
  return boolean == 0 ? x && y : boolean == 1 ? x || y : x != y;
}
bool look_up(std::uint8_t table, bool a, bool b, bool c) {
  return (table >> (a * 4 + b * 2 + c) & 1) != 0;
}

// ---- integers

/// Returns an addend of 32 bits: negation is a complement, and with .X the carry's instruction adds the one.
u64 addend(const Operands& o, const sass::Source& source, u64 value) {
  const u64 word = low(value);
  if (!source.negated)
    return word;
  return o.extended ? u64{~low(value)} : u64{~low(value)} + 1;
}

void add3(const Operands& o, Lane& lane) {
  u64 sum = addend(o, o.a, lane.a) + addend(o, o.b, lane.b) + addend(o, o.c, lane.c);
  if (o.extended)
    sum += u64{lane.in[0]} + u64{lane.in[1]};
  lane.result = low(sum);
  lane.out[0] = sum >> 32 >= 1;
  lane.out[1] = sum >> 32 >= 2;
}

void add64(const Operands& o, Lane& lane) {
  const auto term = [&](const sass::Source& source, u64 value) {
    return source.negated ? u128{~value} + !o.extended : u128{value};
  };
  const u128 sum =
      term(o.a, lane.a) + term(o.b, lane.b) + term(o.c, lane.c) + (o.extended && lane.in[0] ? 1 : 0);
  lane.result = static_cast<u64>(sum);
  lane.out[0] = sum >> 64 >= 1;
  lane.out[1] = sum >> 64 >= 2;
}

void multiply_add(const Operands& o, Lane& lane) {
  u64 sum = u64{low(product(o, low(lane.a), low(lane.b)))} + addend(o, o.c, lane.c);
  if (o.extended)
    sum += lane.in[0];
  lane.result = low(sum);
  lane.out[0] = sum >> 32 != 0;
}

void multiply_add_wide(const Operands& o, Lane& lane) {
  u128 sum = product(o, low(lane.a), low(lane.b));
  sum += o.c.negated ? u128{~lane.c} : u128{lane.c};
  if (o.c.negated && !o.extended)
    sum += 1;
  if (o.extended)
    sum += lane.in[0];
  lane.result = o.opcode == Opcode::imad_hi ? high(static_cast<u64>(sum)) : static_cast<u64>(sum);
  lane.out[0] = sum >> 64 != 0;
}

void load_effective_address(const Operands& o, Lane& lane) {
  const u32 upper = o.is_signed ? static_cast<u32>(static_cast<i32>(low(lane.a)) >> 31) : low(lane.c);
  const u64 pair = u64{upper} << 32 | low(lane.a);
  u64 term = o.high ? low(pair >> (32 - o.shift)) : low(lane.a) << o.shift;
  if (o.a.negated)
    term = o.extended ? u64{~low(term)} : u64{~low(term)} + 1;
  u64 sum = term + addend(o, o.b, lane.b);
  if (o.extended)
    sum += lane.in[0];
  lane.result = low(sum);
  lane.out[0] = sum >> 32 != 0;
}

u32 funnel_shift(const Operands& o, const Lane& lane) {
  const bool is_signed = o.type == 0 || o.type == 2;
  const u32 width = o.type < 2 ? 64 : 32;
  const u32 count = o.wraps ? low(lane.b) & (width - 1) : std::min(low(lane.b), width);
  const u64 pair = u64{low(lane.c)} << 32 | low(lane.a);
  u64 shifted = 0;
  if (!o.right)
    shifted = count >= 64 ? 0 : pair << count;
  else if (is_signed)
    shifted = static_cast<u64>(static_cast<i64>(pair) >> std::min(count, 63u));
  else
    shifted = count >= 64 ? 0 : pair >> count;
  return o.high ? high(shifted) : low(shifted);
}

/// PRMT: bytes of the eight of C and A, chosen by nibbles of B or by a mode and its lowest bits.
u32 permute(const Operands& o, u32 a, u32 selector, u32 c) {
  const u64 bytes = u64{c} << 32 | a;
  const auto byte = [&](u32 index) { return low(bytes >> (8 * (index & 7))) & 0xff; };
  const u32 first = selector & 3;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    u32 value = 0;
    switch (o.function) {
    case 0: {
      const u32 nibble = selector >> (4 * i) & 0xf;
      value = byte(nibble);
      if ((nibble & 8) != 0)
        value = (value & 0x80) != 0 ? 0xff : 0;
      break;
    }
    case 1: value = byte(first + i); break;
    case 2: value = byte(first - i); break;
    case 3: value = byte(first); break;
    case 4: value = byte(std::max(i, first)); break;
    case 5: value = byte(std::min(i, first)); break;
    default: value = byte((first & 1) * 2 + (i & 1)); break;
    }
    result |= value << (8 * i);
  }
  return result;
}

template <class Number> bool are_integers_related(std::uint8_t comparison, Number x, Number y) {
  return comparison == 7 || are_related(static_cast<std::uint8_t>(comparison & 7), x, y);
}

void compare_integers(const Operands& o, Lane& lane) {
  bool related = false, equal = false;
  if (o.wide) {
    related = o.is_signed
                  ? are_integers_related(o.comparison, static_cast<i64>(lane.a), static_cast<i64>(lane.b))
                  : are_integers_related(o.comparison, lane.a, lane.b);
    equal = lane.a == lane.b;
  } else {
    related = o.is_signed ? are_integers_related(o.comparison, static_cast<i32>(low(lane.a)),
                                                 static_cast<i32>(low(lane.b)))
                          : are_integers_related(o.comparison, low(lane.a), low(lane.b));
    equal = low(lane.a) == low(lane.b);
  }
  if (o.extended && equal && o.comparison != 0 && o.comparison != 7)
    related = lane.in[1];
  lane.out[0] = combine(o.boolean, related, lane.in[0]);
  lane.out[1] = combine(o.boolean, !related, lane.in[0]);
}

template <class Number> Number extreme(Number x, Number y, bool minimum) {
  return minimum == (x < y) ? x : y;
}

/// Returns the lesser or the greater of two values; with .RELU zero is a third one, for the instruction's
/// last step.
u64 integer_extreme(const Operands& o, u64 a, u64 b, bool minimum) {
  if (o.wide)
    return o.is_signed ? static_cast<u64>(extreme(static_cast<i64>(a), static_cast<i64>(b), minimum))
                       : extreme(a, b, minimum);
  if (o.function != 0) { // of two halves
    u32 result = 0;
    for (const u32 shift : {0u, 16u}) {
      const auto x = static_cast<std::uint16_t>(a >> shift), y = static_cast<std::uint16_t>(b >> shift);
      const std::uint16_t chosen =
          o.is_signed ? static_cast<std::uint16_t>(
                            extreme(static_cast<std::int16_t>(x), static_cast<std::int16_t>(y), minimum))
                      : extreme(x, y, minimum);
      result |= u32{chosen} << shift;
    }
    return result;
  }
  return o.is_signed ? static_cast<u32>(extreme(static_cast<i32>(low(a)), static_cast<i32>(low(b)), minimum))
                     : extreme(low(a), low(b), minimum);
}

u64 at_least_zero(const Operands& o, u64 value) {
  if (!o.relu)
    return value;
  if (o.function == 0)
    return static_cast<i32>(low(value)) < 0 ? 0 : value;
  u32 result = low(value);
  for (const u32 shift : {0u, 16u})
    if ((result >> shift & 0x8000) != 0)
      result &= ~(0xffffu << shift);
  return result;
}
/// Says of VIMNMX's halves, or of the whole word, whether A was chosen.
void say_chosen(const Operands& o, Lane& lane) {
  const u32 a = low(lane.a), result = low(lane.result);
  if (o.function == 0) {
    lane.out[0] = lane.out[1] = a == result;
    return;
  }
  lane.out[0] = (a & 0xffff) == (result & 0xffff);
  lane.out[1] = a >> 16 == result >> 16;
}
/// VIADDMNMX's sum, of two halves that do not carry into each other or of the word.
u32 sum_of(const Operands& o, u32 a, u32 b) {
  if (o.b.negated)
    b = o.function == 0 ? 0 - b : (0 - (b & 0xffff) & 0xffff) | (0 - (b >> 16)) << 16;
  return o.function == 0 ? a + b : ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;
}

u32 reversed(u32 value) {
  u32 result = 0;
  for (u32 bit = 0; bit < 32; ++bit)
    result |= (value >> bit & 1) << (31 - bit);
  return result;
}

void find_leading_one(const Operands& o, Lane& lane, u32 value) {
  if (o.is_signed && (value & 0x80000000) != 0)
    value = ~value;
  const u32 zeros = static_cast<u32>(std::countl_zero(value));
  lane.result = value == 0 ? ~0u : o.function != 0 ? zeros : 31 - zeros;
  lane.out[0] = value != 0;
}

u32 bit_mask(const Operands& o, u32 position, u32 length) {
  if (o.wraps) {
    position &= 31;
    length &= 31;
  }
  if (position >= 32 || length == 0)
    return 0;
  const u64 end = std::min<u64>(u64{position} + length, 32);
  return low((u64{1} << end) - 1) & ~0u << position;
}

u32 extend_bits(const Operands& o, u32 value, u32 bits) {
  if (o.wraps)
    bits &= 31;
  if (bits >= 32)
    return value;
  if (bits == 0)
    return 0;
  const u32 shifted = value << (32 - bits);
  return o.is_signed ? static_cast<u32>(static_cast<i32>(shifted) >> (32 - bits)) : shifted >> (32 - bits);
}

u32 absolute_difference(const Operands& o, u32 a, u32 b) {
  const bool less = o.is_signed ? static_cast<i32>(a) < static_cast<i32>(b) : a < b;
  return less ? b - a : a - b;
}

u32 differences_of_bytes(const Operands& o, u32 a, u32 b, u32 c) {
  u32 bytes = 0, sum = c;
  for (u32 shift = 0; shift < 32; shift += 8) {
    const u32 flip = o.is_signed ? 0x80 : 0, x = (a >> shift & 0xff) ^ flip, y = (b >> shift & 0xff) ^ flip;
    const u32 difference = x < y ? y - x : x - y;
    bytes |= difference << shift;
    sum += difference;
  }
  return o.wraps ? sum : bytes;
}

/// IDP: a product of four bytes by four bytes, or of two halves by two bytes.
u32 dot_product(const Operands& o, u32 a, u32 b, u32 sum) {
  const auto part = [](u32 value, u32 bits, u32 index, bool is_signed) {
    const u32 shifted = value >> (bits * index) << (32 - bits);
    return is_signed ? static_cast<u32>(static_cast<i32>(shifted) >> (32 - bits)) : shifted >> (32 - bits);
  };
  const bool bytes = o.type == 0;
  const u32 first = o.type == 3 ? 2 : 0; // .2A.HI takes B's upper bytes
  for (u32 i = 0; i < (bytes ? 4u : 2u); ++i)
    sum += part(a, bytes ? 8 : 16, i, o.is_signed) * part(b, 8, bytes ? i : first + i, o.source_type != 0);
  return sum;
}

// ---- floats

u64 signed_source(const sass::Source& source, u64 value) {
  const u64 sign = source.words == 2 ? u64{1} << 63 : u64{1} << 31;
  if (source.absolute)
    value &= ~sign;
  return source.negated ? value ^ sign : value;
}

struct Floats {
  float a, b, c;
};
Floats floats_of(const Operands& o, const Lane& lane) {
  const auto read = [&](const sass::Source& source, u64 value) {
    const float number = as_float(low(signed_source(source, value)));
    return o.ftz ? flush(number) : number;
  };
  return {read(o.a, lane.a), read(o.b, lane.b), read(o.c, lane.c)};
}
struct Doubles {
  double a, b, c;
};
Doubles doubles_of(const Operands& o, const Lane& lane) {
  return {as_double(signed_source(o.a, lane.a)), as_double(signed_source(o.b, lane.b)),
          as_double(signed_source(o.c, lane.c))};
}
Direction direction_of(const Operands& o) {
  return static_cast<Direction>(o.rounding);
}
u64 finish(const Operands& o, float value) {
  if (o.ftz)
    value = flush(value);
  if (o.saturates)
    return bits_of(saturate(value));
  return canonical(value);
}

void float_arithmetic(const Operands& o, Lane& lane) {
  const Floats f = floats_of(o, lane);
  const Direction direction = direction_of(o);
  float result = 0;
  if (direction == Direction::nearest)
    result = o.opcode == Opcode::fadd   ? f.a + f.b
             : o.opcode == Opcode::fmul ? f.a * f.b
                                        : std::fma(f.a, f.b, f.c);
  else {
    const double x = f.a, y = f.b;
    const double exact = o.opcode == Opcode::fadd   ? sum_to_odd(x, y)
                         : o.opcode == Opcode::fmul ? x * y
                                                    : sum_to_odd(x * y, static_cast<double>(f.c));
    result = round_to_float(exact, direction);
    // An exact sum of zero is -0 when it is rounded down, unless both addends are +0.
    if (exact == 0 && direction == Direction::down && o.opcode != Opcode::fmul) {
      const double first = o.opcode == Opcode::fadd ? x : x * y, second = o.opcode == Opcode::fadd ? y : f.c;
      result = first == 0 && second == 0 && !std::signbit(first) && !std::signbit(second) ? 0.0f : -0.0f;
    }
  }
  lane.result = finish(o, result);
}

/// Computes in the processor's own rounding mode.
[[gnu::noinline]] double in_direction(Opcode opcode, Direction direction, double a, double b, double c) {
  constexpr std::array<int, 4> modes{FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  std::fesetround(modes[static_cast<std::size_t>(direction)]);
  const volatile double x = a, y = b, z = c;
  volatile double result = 0;
  if (opcode == Opcode::dadd)
    result = x + y;
  else if (opcode == Opcode::dmul)
    result = x * y;
  else
    result = std::fma(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

void double_arithmetic(const Operands& o, Lane& lane) {
  const Doubles d = doubles_of(o, lane);
  const Direction direction = direction_of(o);
  double result = 0;
  if (direction != Direction::nearest)
    result = in_direction(o.opcode, direction, d.a, d.b, d.c);
  else if (o.opcode == Opcode::dadd)
    result = d.a + d.b;
  else if (o.opcode == Opcode::dmul)
    result = d.a * d.b;
  else
    result = std::fma(d.a, d.b, d.c);
  lane.result = canonical(result);
}

void compare_floats(const Operands& o, Lane& lane, bool related) {
  lane.out[0] = combine(o.boolean, related, lane.in[0]);
  lane.out[1] = combine(o.boolean, !related, lane.in[0]);
}

/// DSETP: its codes for always and never are the maximum and the minimum, of which the first result says
/// whether A is it, and the second whether both are NaN.
void compare_doubles(const Operands& o, Lane& lane) {
  const Doubles d = doubles_of(o, lane);
  if (o.comparison != 0 && o.comparison != 15)
    return compare_floats(o, lane, are_related(o.comparison, d.a, d.b));
  const bool maximum = o.comparison == 15;
  const bool a_is_nan = d.a != d.a, b_is_nan = d.b != d.b;
  bool chooses_a = false;
  if (b_is_nan)
    chooses_a = !a_is_nan;
  else if (!a_is_nan)
    chooses_a = d.a == d.b ? std::signbit(d.a) != maximum : (d.a > d.b) == maximum;
  lane.out[0] = chooses_a && lane.in[0];
  lane.out[1] = a_is_nan && b_is_nan && lane.in[0];
}

float float_extreme(float x, float y, bool minimum, bool passes_nan) {
  if (passes_nan && (x != x || y != y))
    return as_float(nan_bits);
  if (x != x)
    return y;
  if (y != y)
    return x;
  if (x == y)
    return std::signbit(x) == minimum ? x : y;
  return (x < y) == minimum ? x : y;
}

/// Computes two floats that lie in a pair of words.
void pair_arithmetic(const Operands& o, Lane& lane) {
  Operands single = o;
  single.opcode = o.opcode == Opcode::fadd2   ? Opcode::fadd
                  : o.opcode == Opcode::fmul2 ? Opcode::fmul
                                              : Opcode::ffma;
  for (sass::Source* source : {&single.a, &single.b, &single.c})
    source->words = 1;
  u64 results[2];
  for (const u32 half : {0u, 1u}) {
    Lane part = lane;
    part.a >>= 32 * half;
    part.b >>= 32 * half;
    part.c >>= 32 * half;
    float_arithmetic(single, part);
    results[half] = part.result;
  }
  lane.result = results[0] | results[1] << 32;
}

u32 special_function(const Operands& o, u32 bits) {
  const double wide = as_double(u64{bits} << 32);
  switch (o.function) {
  case 0: return special_sine(bits, true);
  case 1: return special_sine(bits, false);
  case 2: return special_exp2(bits);
  case 3: return special_log2(bits);
  case 4: return special_reciprocal(bits);
  case 5: return special_reciprocal_root(bits);
  case 6: return high(canonical(1.0 / wide));
  case 7: return high(canonical(1.0 / std::sqrt(wide)));
  case 8: return special_root(bits);
  default: return canonical(std::tanh(flush(as_float(bits))));
  }
}

/// MUFU of a half: rounded once, from the function of its float.
u32 special_function_of_half(const Operands& o, u32 bits) {
  bits &= 0xffff;
  if (o.b.absolute)
    bits &= 0x7fff;
  if (o.b.negated)
    bits ^= 0x8000;
  const bool is_bfloat = o.type == 2;
  const float number = is_bfloat ? bfloat_to_float(static_cast<std::uint16_t>(bits))
                                 : half_to_float(static_cast<std::uint16_t>(bits));
  const double result = as_float(special_function(o, std::bit_cast<u32>(number)));
  return is_bfloat ? double_to_bfloat(result, Direction::nearest)
                   : double_to_half(result, Direction::nearest);
}

/// FCHK: whether the quotient A / B may need the slow path. True is always right; when the hardware says so
/// is an estimate by the exponents.
bool needs_slow_division(u32 a, u32 b) {
  const int of_a = static_cast<int>(a >> 23 & 0xff), of_b = static_cast<int>(b >> 23 & 0xff);
  return of_b == 0 || of_b >= 253 || of_a == 255 || of_a <= 24 || of_a - of_b >= 126 || of_b - of_a >= 126;
}

// ---- conversions

/// Returns the source of a conversion as a double, which holds each format exactly.
double converted_source(const Operands& o, const Lane& lane) {
  if (o.source_type == 3)
    return as_double(signed_source(o.b, lane.b));
  if (o.source_type == 2) {
    const float value = as_float(low(signed_source(o.b, lane.b)));
    return o.ftz ? flush(value) : value;
  }
  const bool upper = o.selector == 1 || o.selector == 3;
  double value = half_to_float(static_cast<std::uint16_t>(upper ? lane.b >> 16 : lane.b));
  if (o.b.absolute)
    value = std::fabs(value);
  return o.b.negated ? -value : value;
}

double to_integer(double value, Direction direction) {
  switch (direction) {
  case Direction::nearest: return std::nearbyint(value);
  case Direction::down: return std::floor(value);
  case Direction::up: return std::ceil(value);
  case Direction::zero: return std::trunc(value);
  }
  return value;
}

void float_to_integer(const Operands& o, Lane& lane) {
  const double source = converted_source(o, lane);
  const double value = to_integer(source, direction_of(o));
  const int bits = 8 << o.type;
  if (source != source) {
    lane.result = bits == 64 ? u64{1} << 63 : 0;
    return;
  }
  const double end = std::ldexp(1.0, o.is_signed ? bits - 1 : bits); // the first number that is too large
  const u64 largest = o.is_signed ? (u64{1} << (bits - 1)) - 1 : bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  u64 result = 0;
  if (value >= end)
    result = largest;
  else if (o.is_signed)
    result = value < -end ? ~largest : static_cast<u64>(static_cast<i64>(value));
  else
    result = value <= 0 ? 0 : static_cast<u64>(value);
  lane.result = bits == 64 ? result : low(result);
}

void integer_to_float(const Operands& o, Lane& lane) {
  const int bits = 8 << o.source_type;
  u64 value = lane.b;
  if (bits < 32)
    value >>= 8 * o.selector;
  if (bits < 64) {
    value <<= 64 - bits;
    value = o.is_signed ? static_cast<u64>(static_cast<i64>(value) >> (64 - bits)) : value >> (64 - bits);
  }
  const bool negative = o.is_signed && static_cast<i64>(value) < 0;
  const u64 magnitude = negative ? 0 - value : value;
  // To odd in a double's 53 bits, from which each format is rounded once.
  const int excess = std::max(0, 64 - std::countl_zero(magnitude) - 53);
  const Direction direction = direction_of(o);
  if (o.type == 3) {
    const u64 kept = magnitude >> excess << excess, rest = magnitude - kept;
    const u64 unit = u64{1} << excess, half = unit >> 1;
    bool up = false;
    switch (direction) {
    case Direction::nearest: up = rest > half || (rest == half && rest != 0 && (kept & unit) != 0); break;
    case Direction::down: up = rest != 0 && negative; break;
    case Direction::up: up = rest != 0 && !negative; break;
    case Direction::zero: break;
    }
    const double rounded = static_cast<double>(kept) + (up && excess != 0 ? static_cast<double>(unit) : 0.0);
    lane.result = bits_of(negative ? -rounded : rounded);
    return;
  }
  u64 odd = magnitude >> excess << excess;
  if (odd != magnitude)
    odd |= u64{1} << excess;
  const double exact = negative ? -static_cast<double>(odd) : static_cast<double>(odd);
  lane.result = o.type == 2 ? bits_of(round_to_float(exact, direction)) : double_to_half(exact, direction);
}

/// I2I: limits a number of 32 bits to a type of 8 or 16 bits.
u32 saturated(const Operands& o, u32 value) {
  const bool is_signed = (o.type & 1) != 0;
  const int bits = o.type < 2 ? 8 : 16;
  const i32 least = is_signed ? -(1 << (bits - 1)) : 0, most = (1 << (is_signed ? bits - 1 : bits)) - 1;
  return static_cast<u32>(std::clamp(static_cast<i32>(value), least, most));
}

void float_to_float(const Operands& o, Lane& lane) {
  const double value = converted_source(o, lane);
  if (o.type == 3)
    lane.result = canonical(value);
  else if (o.type == 2) {
    const float result = round_to_float(value, direction_of(o));
    lane.result = canonical(o.ftz ? flush(result) : result);
  } else
    lane.result = o.bf16 ? double_to_bfloat(value, direction_of(o)) : double_to_half(value, direction_of(o));
}

void round_to_whole(const Operands& o, Lane& lane) {
  const double value = to_integer(converted_source(o, lane), direction_of(o));
  lane.result = o.type == 3   ? canonical(value)
                : o.type == 2 ? canonical(static_cast<float>(value))
                              : float_to_half(static_cast<float>(value));
}

u32 pack_halves(const Operands& o, const Lane& lane) {
  const auto convert = [&](const sass::Source& source, u64 bits) -> u32 {
    float value = as_float(low(signed_source(source, bits)));
    if (o.relu && !(value != value))
      value = value > 0 ? value : 0;
    return o.bf16 ? double_to_bfloat(value, direction_of(o)) : double_to_half(value, direction_of(o));
  };
  return convert(o.a, lane.a) << 16 | convert(o.b, lane.b);
}

/// The first of two is in the upper half of the result.
u32 convert_small_floats(const Operands& o, const Lane& lane) {
  const auto kind = static_cast<sass::SmallFloat>(o.type);
  const bool is_nibble = kind == sass::SmallFloat::e2m1;
  const u32 bits = is_nibble ? 4 : 8, b = low(lane.b) >> (o.high ? 2 * bits : 0);
  const auto relu = [&](double value) { return o.relu && !(value != value) && !(value > 0) ? 0 : value; };
  if (o.function == 2) {
    const auto half = [&](u32 of) -> u32 {
      const double value = relu(small_float(kind, b >> (bits * of) & ((1u << bits) - 1)));
      return o.bf16 ? double_to_bfloat(value, Direction::nearest) : double_to_half(value, Direction::nearest);
    };
    return half(1) << 16 | half(0);
  }
  if (o.function == 3) {
    const double value = relu(as_float(low(signed_source(o.b, lane.b))));
    constexpr u32 largest = 0x7f7fe000;
    const double rounded = value != value ? value : round_to(value, 11, -126, 127, direction_of(o));
    const u32 found = canonical(static_cast<float>(rounded));
    const bool is_infinite = (found & 0x7fffffff) == 0x7f800000;
    return is_infinite && o.saturates ? (found & 0x80000000) | largest : found;
  }
  const bool from_halves = o.source_type == 1;
  const auto half = [&](u32 bits_of_it) {
    const auto word = static_cast<std::uint16_t>(bits_of_it);
    return o.bf16 ? bfloat_to_float(word) : half_to_float(word);
  };
  const double first = from_halves ? half(b >> 16) : as_float(low(signed_source(o.a, lane.a)));
  const double second = from_halves ? half(b) : as_float(low(signed_source(o.b, lane.b)));
  const auto merged = [&](u32 pair) { return low(lane.c) << 16 | pair; };
  if (kind == sass::SmallFloat::e8m0) {
    const bool up = o.rounding == sass::Rounding::up;
    return merged(to_power_of_two(first, up, o.saturates) << bits | to_power_of_two(second, up, o.saturates));
  }
  return merged(to_small_float(kind, relu(first)) << bits | to_small_float(kind, relu(second)));
}

// ---- halves

struct Pair {
  float low, high;
};

/// Returns the two numbers of a source, as its swizzle, its sign and its format say.
Pair pair_of(const Operands& o, const sass::Source& source, u64 bits) {
  const auto convert = [&](u64 half) {
    const auto value = static_cast<std::uint16_t>(half);
    return o.bf16 ? bfloat_to_float(value) : half_to_float(value);
  };
  Pair pair{convert(bits), convert(bits >> 16)};
  switch (source.swizzle) {
  case 1: pair.low = pair.high = as_float(low(bits)); break;
  case 2: pair.high = pair.low; break;
  case 3: pair.low = pair.high; break;
  default: break;
  }
  const auto sign = [&](float value) {
    if (source.absolute)
      value = std::fabs(value);
    return source.negated ? -value : value;
  };
  return {sign(pair.low), sign(pair.high)};
}

u32 packed(const Operands& o, float low_number, float high_number) {
  const auto convert = [&](float value) -> u32 {
    if (o.saturates)
      value = saturate(value);
    if (o.relu && !(value > 0) && value == value)
      value = 0;
    return o.bf16 ? float_to_bfloat(value) : float_to_half(value);
  };
  return convert(low_number) | convert(high_number) << 16;
}

void half_arithmetic(const Operands& o, Lane& lane) {
  const Pair a = pair_of(o, o.a, lane.a), b = pair_of(o, o.b, lane.b);
  if (o.opcode == Opcode::hadd2 && o.float_result) { // converts and adds in single precision
    lane.result = canonical(a.low + b.low);
    return;
  }
  const Pair c = o.opcode == Opcode::hfma2 ? pair_of(o, o.c, lane.c) : Pair{};
  // Products of halves are exact in single precision; a sum is rounded to odd, then once to the format. Sums
  // of bfloat16 need the exponents of double precision.
  const auto compute = [&](float x, float y, float z) {
    if (o.opcode == Opcode::hmul2)
      return static_cast<float>(x * y);
    const double sum = o.opcode == Opcode::hadd2 ? sum_to_odd(double{x}, double{y})
                                                 : sum_to_odd(double{x} * double{y}, double{z});
    // From a double to a float to odd: truncated, with a sticky last bit.
    float narrow = static_cast<float>(sum);
    if (static_cast<double>(narrow) != sum && sum == sum && (bits_of(narrow) & 1) == 0 &&
        std::fabs(narrow) <= std::numeric_limits<float>::max())
      narrow =
          as_float(std::fabs(double{narrow}) > std::fabs(sum) ? bits_of(narrow) - 1 : bits_of(narrow) + 1);
    return narrow;
  };
  lane.result = packed(o, compute(a.low, b.low, c.low), compute(a.high, b.high, c.high));
}

void half_comparison(const Operands& o, Lane& lane) {
  const Pair a = pair_of(o, o.a, lane.a), b = pair_of(o, o.b, lane.b);
  const bool of_low = are_related(o.comparison, a.low, b.low);
  const bool of_high = are_related(o.comparison, a.high, b.high);
  if (o.opcode == Opcode::hsetp2) {
    if (o.function != 0) {
      const bool both = of_low && of_high;
      lane.out[0] = combine(o.boolean, both, lane.in[0]);
      lane.out[1] = combine(o.boolean, !both, lane.in[0]);
    } else {
      lane.out[0] = combine(o.boolean, of_low, lane.in[0]);
      lane.out[1] = combine(o.boolean, of_high, lane.in[0]);
    }
    return;
  }
  const u32 one = !o.float_result ? 0xffff : o.bf16 ? 0x3f80 : 0x3c00;
  lane.result = (combine(o.boolean, of_low, lane.in[0]) ? one : 0) |
                (combine(o.boolean, of_high, lane.in[0]) ? one << 16 : 0);
}

u32 half_extreme(const Operands& o, const Lane& lane) {
  const Pair a = pair_of(o, o.a, lane.a), b = pair_of(o, o.b, lane.b);
  const auto choose = [&](float x, float y) {
    if (o.boolean != 0) { // .XORSIGN
      const u32 sign = (bits_of(x) ^ bits_of(y)) & 0x80000000;
      const float chosen = float_extreme(std::fabs(x), std::fabs(y), lane.in[0], o.function != 0);
      return as_float((bits_of(chosen) & 0x7fffffff) | sign);
    }
    return float_extreme(x, y, lane.in[0], o.function != 0);
  };
  return packed(o, choose(a.low, b.low), choose(a.high, b.high));
}

} // namespace

bool is_lane_operation(Opcode opcode) {
  return opcode >= Opcode::mov && opcode <= Opcode::hmnmx2 && opcode != Opcode::fswzadd;
}

void compute_lane(const Operands& o, Lane& lane) {
  const u32 b = o.b.negated ? ~low(lane.b) : low(lane.b); // of bit counts
  switch (o.opcode) {
  case Opcode::mov: lane.result = lane.b; break;
  case Opcode::sel: // and FSEL, whose sources have signs
    lane.result = lane.in[0] ? signed_source(o.a, lane.a) : signed_source(o.b, lane.b);
    break;
  case Opcode::iadd3: add3(o, lane); break;
  case Opcode::iadd64: add64(o, lane); break;
  case Opcode::imad: multiply_add(o, lane); break;
  case Opcode::imad_wide:
  case Opcode::imad_hi: multiply_add_wide(o, lane); break;
  case Opcode::lea: load_effective_address(o, lane); break;
  case Opcode::lop3: {
    u32 result = 0;
    for (u32 bit = 0; bit < 32; ++bit)
      result |= u32{look_up(o.lut, lane.a >> bit & 1, lane.b >> bit & 1, lane.c >> bit & 1)} << bit;
    lane.result = result;
    lane.out[0] = o.function != 0 ? result != 0 && lane.in[0] : result != 0 || lane.in[0];
    break;
  }
  case Opcode::shf: lane.result = funnel_shift(o, lane); break;
  case Opcode::prmt: lane.result = permute(o, low(lane.a), low(lane.b), low(lane.c)); break;
  case Opcode::isetp: compare_integers(o, lane); break;
  case Opcode::imnmx:
    lane.result = at_least_zero(o, integer_extreme(o, lane.a, lane.b, lane.in[0]));
    say_chosen(o, lane);
    break;
  case Opcode::imnmx3:
    lane.result = at_least_zero(
        o, integer_extreme(o, integer_extreme(o, lane.a, lane.b, lane.in[0]), lane.c, lane.in[0]));
    break;
  case Opcode::viaddmnmx:
    lane.result =
        at_least_zero(o, integer_extreme(o, sum_of(o, low(lane.a), low(lane.b)), lane.c, lane.in[0]));
    break;
  case Opcode::iabs: lane.result = static_cast<i32>(low(lane.b)) < 0 ? 0 - low(lane.b) : low(lane.b); break;
  case Opcode::popc: lane.result = static_cast<u32>(std::popcount(b)); break;
  case Opcode::brev: lane.result = reversed(b); break;
  case Opcode::flo: find_leading_one(o, lane, b); break;
  case Opcode::bmsk: lane.result = bit_mask(o, low(lane.a), low(lane.b)); break;
  case Opcode::sgxt: lane.result = extend_bits(o, low(lane.a), low(lane.b)); break;
  case Opcode::vabsdiff:
    lane.result = o.function != 0 ? differences_of_bytes(o, low(lane.a), low(lane.b), low(lane.c))
                                  : low(absolute_difference(o, low(lane.a), low(lane.b)) + lane.c);
    break;
  case Opcode::idp: lane.result = dot_product(o, low(lane.a), low(lane.b), low(lane.c)); break;
  case Opcode::p2r: {
    const u32 mask = low(lane.b) & 0x7f, shift = 8u * o.selector;
    lane.result = (low(lane.a) & ~((low(lane.b) & 0xff) << shift)) | (lane.predicates & mask) << shift;
    break;
  }
  case Opcode::r2p: {
    const u32 mask = low(lane.b) & 0x7f;
    lane.predicates =
        static_cast<std::uint8_t>((lane.predicates & ~mask) | (low(lane.a) >> (8u * o.selector) & mask));
    break;
  }
  case Opcode::plop3:
    lane.out[0] = look_up(o.lut, lane.in[0], lane.in[1], lane.in[2]);
    lane.out[1] = look_up(o.lut2, lane.in[0], lane.in[1], lane.in[2]);
    break;
  case Opcode::fadd:
  case Opcode::fmul:
  case Opcode::ffma: float_arithmetic(o, lane); break;
  case Opcode::fsetp: {
    const Floats f = floats_of(o, lane);
    compare_floats(o, lane, are_related(o.comparison, f.a, f.b));
    break;
  }
  case Opcode::fset: {
    const Floats f = floats_of(o, lane);
    const bool related = combine(o.boolean, are_related(o.comparison, f.a, f.b), lane.in[0]);
    lane.result = related ? 0x3f800000 : 0;
    break;
  }
  case Opcode::fmnmx: {
    const Floats f = floats_of(o, lane);
    float result = o.boolean != 0 ? float_extreme(std::fabs(f.a), std::fabs(f.b), lane.in[0], o.function != 0)
                                  : float_extreme(f.a, f.b, lane.in[0], o.function != 0);
    if (o.boolean != 0)
      result = as_float((bits_of(result) & 0x7fffffff) | ((bits_of(f.a) ^ bits_of(f.b)) & 0x80000000));
    lane.result = canonical(result);
    break;
  }
  case Opcode::fmnmx3: {
    const Floats f = floats_of(o, lane);
    lane.result =
        canonical(float_extreme(float_extreme(f.a, f.b, lane.in[0], false), f.c, lane.in[0], false));
    break;
  }
  case Opcode::fadd2:
  case Opcode::fmul2:
  case Opcode::ffma2: pair_arithmetic(o, lane); break;
  case Opcode::fchk:
    lane.out[0] = needs_slow_division(low(signed_source(o.a, lane.a)), low(signed_source(o.b, lane.b)));
    break;
  case Opcode::mufu:
    lane.result = o.type != 0 ? special_function_of_half(o, low(lane.b))
                              : special_function(o, low(signed_source(o.b, lane.b)));
    break;
  case Opcode::dadd:
  case Opcode::dmul:
  case Opcode::dfma: double_arithmetic(o, lane); break;
  case Opcode::dsetp: compare_doubles(o, lane); break;
  case Opcode::f2i: float_to_integer(o, lane); break;
  case Opcode::i2f: integer_to_float(o, lane); break;
  case Opcode::i2i: lane.result = saturated(o, low(lane.b)); break;
  case Opcode::f2f: float_to_float(o, lane); break;
  case Opcode::frnd: round_to_whole(o, lane); break;
  case Opcode::f2fp:
    lane.result = o.function == 0 ? pack_halves(o, lane) : convert_small_floats(o, lane);
    break;
  case Opcode::hadd2:
  case Opcode::hmul2:
  case Opcode::hfma2: half_arithmetic(o, lane); break;
  case Opcode::hset2:
  case Opcode::hsetp2: half_comparison(o, lane); break;
  case Opcode::hmnmx2: lane.result = half_extreme(o, lane); break;
  default: break;
  }
}

} // namespace warplens::machine
