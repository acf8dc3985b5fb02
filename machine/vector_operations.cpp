// The operations of most programs, each for all lanes of a warp in loops that the compiler makes vector code
// of. The file is compiled once for each kind of processor, into the namespace WARPLENS_MACHINE_ISA; what it
// does not take, `compute_lane` does. Rows are equal or disjoint, never shifted, so that a loop may write the
// row that it reads.
#include "machine/integers.h"
#include "machine/numbers.h"
#include "machine/vector_products.h"
#include "machine/warp.h"

#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define LOOP INDEPENDENT for (unsigned i = 0; i < lane_count; ++i)

namespace warplens::machine::WARPLENS_MACHINE_ISA {
namespace {

using sass::Opcode;
using sass::Operands;

// ---- rows

/// Returns the lanes whose word has its highest bit set.
inline Mask sign_bits(const u32* row) {
#ifdef __AVX2__
  Mask mask = 0;
  for (int part = 0; part < 4; ++part) {
    const __m256 words = _mm256_load_ps(reinterpret_cast<const float*>(row) + 8 * part);
    mask |= static_cast<Mask>(_mm256_movemask_ps(words)) << (8 * part);
  }
  return mask;
#else
  Mask mask = 0;
  for (unsigned i = 0; i < lane_count; ++i)
    mask |= (row[i] >> 31) << i;
  return mask;
#endif
}

/// Writes a word of ones for each lane of a mask, and zero for the others.
inline void spread(Mask mask, u32* row) {
  LOOP row[i] = 0u - (mask >> i & 1);
}

inline void blend(u32* to, const u32* from, Mask mask) {
  LOOP to[i] = (mask >> i & 1) != 0 ? from[i] : to[i];
}
inline void put(u32* to, const u32* from, Mask mask) {
  if (mask == all_lanes)
    std::memcpy(to, from, sizeof(Row));
  else
    blend(to, from, mask);
}

/// Computes a word from those of A, B and C.
template <class F> inline void map(Warp& warp, const Operation& o, Mask mask, F f) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  u32* d = warp.destination(o);
  if (mask == all_lanes) {
    LOOP d[i] = f(a[i], b[i], c[i]);
    return;
  }
  Row result;
  LOOP result.lane[i] = f(a[i], b[i], c[i]);
  blend(d, result.lane, mask);
}

/// Reads operands of two words.
struct Pairs {
  static u64 at(const u32* row, unsigned i) { return u64{row[lane_count + i]} << 32 | row[i]; }
};
inline void put_pair(Warp& warp, const Operation& o, const u64* values, Mask mask) {
  Row low, high;
  LOOP low.lane[i] = static_cast<u32>(values[i]);
  LOOP high.lane[i] = static_cast<u32>(values[i] >> 32);
  u32* d = warp.destination(o);
  put(d, low.lane, mask);
  put(d + lane_count, high.lane, mask);
}

template <class F> inline Mask compare(const u32* a, const u32* b, F f) {
  Row row;
  LOOP row.lane[i] = f(a[i], b[i]) ? ~0u : 0u;
  return sign_bits(row.lane);
}

/// Writes the two results of a comparison, each combined with the predicate that is read.
inline void set_compared(Warp& warp, const Operation& o, Mask related, Mask mask) {
  const Mask other = warp.predicate_in(o, 0);
  Mask first = 0, second = 0;
  switch (o.operands->boolean) {
  case 0:
    first = related & other;
    second = ~related & other;
    break;
  case 1:
    first = related | other;
    second = ~related | other;
    break;
  default:
    first = related ^ other;
    second = ~related ^ other;
    break;
  }
  warp.set_predicate(o.out[0], first, mask);
  warp.set_predicate(o.out[1], second, mask);
}

inline u32 change(u32 value, SignChange sign) {
  return (value & sign.keep) ^ sign.flip;
}

// ---- moves and integers

void move(Warp& warp, const Operation& o, Mask mask) {
  put(warp.destination(o), warp.row(o.b), mask);
}
void move_pair(Warp& warp, const Operation& o, Mask mask) {
  Row copy[2];
  std::memcpy(copy, warp.row(o.b), sizeof copy);
  put(warp.destination(o), copy[0].lane, mask);
  put(warp.destination(o) + lane_count, copy[1].lane, mask);
}
void move_c(Warp& warp, const Operation& o, Mask mask) {
  put(warp.destination(o), warp.row(o.c), mask);
}

template <bool has_signs> void choose(Warp& warp, const Operation& o, Mask mask) {
  Row chosen;
  spread(warp.predicate_in(o, 0), chosen.lane);
  const u32 *a = warp.row(o.a), *b = warp.row(o.b);
  Row result;
  if constexpr (has_signs) {
    const SignChange of_a = o.sign_a, of_b = o.sign_b;
    LOOP result.lane[i] = (chosen.lane[i] & change(a[i], of_a)) | (~chosen.lane[i] & change(b[i], of_b));
  } else
    LOOP result.lane[i] = (chosen.lane[i] & a[i]) | (~chosen.lane[i] & b[i]);
  put(warp.destination(o), result.lane, mask);
}

void add3(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32 a, u32 b, u32 c) { return a + b + c; });
}
void add3_negated(Warp& warp, const Operation& o, Mask mask) {
  const u32 fa = o.sign_a.flip, fb = o.sign_b.flip, fc = o.sign_c.flip, one = o.addend;
  map(warp, o, mask, [=](u32 a, u32 b, u32 c) { return (a ^ fa) + (b ^ fb) + (c ^ fc) + one; });
}
/// IADD3 with carries in or out.
void add3_carries(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  const u32 fa = o.sign_a.flip, fb = o.sign_b.flip, fc = o.sign_c.flip;
  const u64 ones = o.addend;
  const bool extended = o.operands->extended;
  const Mask in0 = extended ? warp.predicate_in(o, 0) : 0, in1 = extended ? warp.predicate_in(o, 1) : 0;
  Row result, carry;
  LOOP {
    const u64 sum = u64{a[i] ^ fa} + (b[i] ^ fb) + (c[i] ^ fc) + ones + (in0 >> i & 1) + (in1 >> i & 1);
    result.lane[i] = static_cast<u32>(sum);
    carry.lane[i] = static_cast<u32>(sum >> 32);
  }
  put(warp.destination(o), result.lane, mask);
  Row once, twice;
  LOOP once.lane[i] = carry.lane[i] >= 1 ? ~0u : 0u;
  LOOP twice.lane[i] = carry.lane[i] >= 2 ? ~0u : 0u;
  warp.set_predicate(o.out[0], sign_bits(once.lane), mask);
  warp.set_predicate(o.out[1], sign_bits(twice.lane), mask);
}

void multiply_add(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32 a, u32 b, u32 c) { return a * b + c; });
}
void multiply_add_negated(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32 a, u32 b, u32 c) { return a * b - c; });
}
template <bool is_signed> void multiply_add_wide(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  u64 values[lane_count];
  LOOP {
    const u64 product = is_signed
                            ? static_cast<u64>(i64{static_cast<i32>(a[i])} * i64{static_cast<i32>(b[i])})
                            : u64{a[i]} * b[i];
    values[i] = product + Pairs::at(c, i);
  }
  put_pair(warp, o, values, mask);
}
/// IMAD.HI and IMAD.WIDE with a carry: the sum may have 65 bits.
template <bool is_signed> void multiply_add_high(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  const Mask in = o.operands->extended ? warp.predicate_in(o, 0) : 0;
  const bool complements = o.operands->c.negated;
  const u64 flip = complements ? ~u64{0} : 0, one = complements && !o.operands->extended ? 1 : 0;
  u64 values[lane_count];
  Row carry;
  LOOP {
    const u64 product = is_signed
                            ? static_cast<u64>(i64{static_cast<i32>(a[i])} * i64{static_cast<i32>(b[i])})
                            : u64{a[i]} * b[i];
    const u64 addend = Pairs::at(c, i) ^ flip, extra = one + (in >> i & 1);
    const u64 sum = product + addend, all = sum + extra;
    values[i] = all;
    carry.lane[i] = sum < product || all < sum ? ~0u : 0u;
  }
  if (o.operands->opcode == Opcode::imad_hi) {
    Row high;
    LOOP high.lane[i] = static_cast<u32>(values[i] >> 32);
    put(warp.destination(o), high.lane, mask);
  } else
    put_pair(warp, o, values, mask);
  warp.set_predicate(o.out[0], sign_bits(carry.lane), mask);
}

void shifted_add(Warp& warp, const Operation& o, Mask mask) {
  const u32 shift = o.operands->shift;
  map(warp, o, mask, [=](u32 a, u32 b, u32) { return (a << shift) + b; });
}
/// LEA of all other kinds.
void shifted_add_carries(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  const Operands& x = *o.operands;
  const u32 shift = x.shift, fa = o.sign_a.flip, fb = o.sign_b.flip;
  const u64 ones = o.addend;
  const Mask in = x.extended ? warp.predicate_in(o, 0) : 0;
  const bool sign_fills = x.is_signed, high = x.high;
  Row result, carry;
  LOOP {
    const u64 upper = sign_fills ? static_cast<u32>(static_cast<i32>(a[i]) >> 31) : c[i];
    const u64 pair = upper << 32 | a[i];
    const u32 term = high ? static_cast<u32>(pair >> (32 - shift)) : a[i] << shift;
    const u64 sum = u64{term ^ fa} + (b[i] ^ fb) + ones + (in >> i & 1);
    result.lane[i] = static_cast<u32>(sum);
    carry.lane[i] = sum >> 32 != 0 ? ~0u : 0u;
  }
  put(warp.destination(o), result.lane, mask);
  warp.set_predicate(o.out[0], sign_bits(carry.lane), mask);
}

/// The parts of a table of three inputs that are set, as words of ones.
struct Table {
  u32 part[8];
};
template <class F> inline void logic(Warp& warp, const Operation& o, Mask mask, F f) {
  map(warp, o, mask, f);
}
inline u32 look_up(const Table& t, u32 a, u32 b, u32 c) {
  const u32 with_c = ((a & t.part[5]) | (~a & t.part[1])), without_c = ((a & t.part[4]) | (~a & t.part[0]));
  const u32 both_c = ((a & t.part[7]) | (~a & t.part[3])), b_only = ((a & t.part[6]) | (~a & t.part[2]));
  return (b & ((c & both_c) | (~c & b_only))) | (~b & ((c & with_c) | (~c & without_c)));
}
template <std::uint8_t lut> void logic3(Warp& warp, const Operation& o, Mask mask) {
  logic(warp, o, mask, [](u32 a, u32 b, u32 c) {
    Table table;
    for (unsigned i = 0; i < 8; ++i)
      table.part[i] = (lut >> i & 1) != 0 ? ~0u : 0u;
    return look_up(table, a, b, c);
  });
}
void logic3_any(Warp& warp, const Operation& o, Mask mask) {
  Table table;
  for (unsigned i = 0; i < 8; ++i)
    table.part[i] = (o.operands->lut >> i & 1) != 0 ? ~0u : 0u;
  logic(warp, o, mask, [&](u32 a, u32 b, u32 c) { return look_up(table, a, b, c); });
}
/// LOP3 with a predicate: whether the result is not zero.
void logic3_predicate(Warp& warp, const Operation& o, Mask mask) {
  Table table;
  for (unsigned i = 0; i < 8; ++i)
    table.part[i] = (o.operands->lut >> i & 1) != 0 ? ~0u : 0u;
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  Row result, set;
  LOOP result.lane[i] = look_up(table, a[i], b[i], c[i]);
  LOOP set.lane[i] = result.lane[i] != 0 ? ~0u : 0u;
  const Mask other = warp.predicate_in(o, 0), nonzero = sign_bits(set.lane);
  put(warp.destination(o), result.lane, mask);
  warp.set_predicate(o.out[0], o.operands->function != 0 ? nonzero & other : nonzero | other, mask);
}

template <bool right, bool is_signed, bool high> void shift64(Warp& warp, const Operation& o, Mask mask) {
  const u32 width = o.operands->type < 2 ? 64 : 32;
  const bool wraps = o.operands->wraps;
  map(warp, o, mask, [=](u32 a, u32 b, u32 c) {
    const u32 limited = b < width ? b : width;
    const u64 count = wraps ? b & (width - 1) : limited;
    const u64 pair = u64{c} << 32 | a;
    u64 shifted = 0;
    if constexpr (!right)
      shifted = count >= 64 ? 0 : pair << (count & 63);
    else if constexpr (is_signed)
      shifted = static_cast<u64>(static_cast<i64>(pair) >> (count < 63 ? count : 63));
    else
      shifted = count >= 64 ? 0 : pair >> (count & 63);
    return static_cast<u32>(high ? shifted >> 32 : shifted);
  });
}
/// SHF.L.U32 and SHF.R.*32.HI, whose other half is not read: shifts of one word.
void shift_left(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32 a, u32 b, u32) { return b < 32 ? a << (b & 31) : 0; });
}
template <bool is_signed> void shift_right(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32, u32 b, u32 c) {
    if constexpr (is_signed)
      return static_cast<u32>(static_cast<i32>(c) >> (b < 31 ? b : 31));
    else
      return b < 32 ? c >> (b & 31) : 0;
  });
}

template <std::uint8_t comparison, class Number> Mask compare_words(const u32* a, const u32* b) {
  return compare(a, b, [](u32 left, u32 right) {
    const auto x = static_cast<Number>(left), y = static_cast<Number>(right);
    return ((comparison & 1) != 0 && x < y) || ((comparison & 2) != 0 && x == y) ||
           ((comparison & 4) != 0 && x > y);
  });
}
template <std::uint8_t comparison, class Number, bool extended>
void compare_integers(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b);
  Mask related = comparison == 7 ? all_lanes : compare_words<comparison, Number>(a, b);
  if constexpr (extended && comparison != 0 && comparison != 7) {
    const Mask equal = compare_words<2, u32>(a, b);
    related = (related & ~equal) | (warp.predicate_in(o, 1) & equal);
  }
  set_compared(warp, o, related, mask);
}
template <bool is_signed, bool extended> Handler comparison_of_integers(std::uint8_t comparison) {
  using Number = std::conditional_t<is_signed, i32, u32>;
  constexpr Handler handlers[] = {
      compare_integers<0, Number, extended>, compare_integers<1, Number, extended>,
      compare_integers<2, Number, extended>, compare_integers<3, Number, extended>,
      compare_integers<4, Number, extended>, compare_integers<5, Number, extended>,
      compare_integers<6, Number, extended>, compare_integers<7, Number, extended>};
  return handlers[comparison];
}

template <class Number> void extreme(Warp& warp, const Operation& o, Mask mask) {
  Row minimum;
  spread(warp.predicate_in(o, 0), minimum.lane);
  const u32 *a = warp.row(o.a), *b = warp.row(o.b);
  Row result;
  LOOP {
    const bool less = static_cast<Number>(a[i]) < static_cast<Number>(b[i]);
    result.lane[i] = (minimum.lane[i] != 0) == less ? a[i] : b[i];
  }
  put(warp.destination(o), result.lane, mask);
}

void count_bits(Warp& warp, const Operation& o, Mask mask) {
  const u32 flip = o.sign_b.flip;
  map(warp, o, mask, [=](u32, u32 b, u32) { return static_cast<u32>(std::popcount(b ^ flip)); });
}
void absolute(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32, u32 b, u32) { return static_cast<i32>(b) < 0 ? 0 - b : b; });
}
/// PRMT by indices that are the same in all lanes, of which none replicates a sign: shifts and masks.
void permute(Warp& warp, const Operation& o, Mask mask) {
  const u32 selector = static_cast<u32>(o.operands->b.value);
  u32 shift[4];
  for (unsigned byte = 0; byte < 4; ++byte)
    shift[byte] = 8 * (selector >> (4 * byte) & 7);
  map(warp, o, mask, [&](u32 a, u32, u32 c) {
    const u64 bytes = u64{c} << 32 | a;
    return static_cast<u32>((bytes >> shift[0] & 0xff) | (bytes >> shift[1] & 0xff) << 8 |
                            (bytes >> shift[2] & 0xff) << 16 | (bytes >> shift[3] & 0xff) << 24);
  });
}

Mask look_up_predicates(u32 table, Mask a, Mask b, Mask c) {
  Mask result = 0;
  for (unsigned i = 0; i < 8; ++i)
    if ((table >> i & 1) != 0)
      result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  return result;
}
void combine_predicates(Warp& warp, const Operation& o, Mask mask) {
  const Mask a = warp.predicate_in(o, 0), b = warp.predicate_in(o, 1), c = warp.predicate_in(o, 2);
  const Mask first = look_up_predicates(o.operands->lut, a, b, c);
  const Mask second = look_up_predicates(o.operands->lut2, a, b, c);
  warp.set_predicate(o.out[0], first, mask);
  warp.set_predicate(o.out[1], second, mask);
}

// ---- floats

inline u32 finish(float value, bool ftz, bool saturates) {
  if (ftz)
    value = flush(value);
  return saturates ? bits_of(saturate(value)) : canonical(value);
}

enum class Arithmetic { add, multiply, multiply_add };

template <Arithmetic kind, bool has_signs, bool ftz, bool saturates>
void arithmetic(Warp& warp, const Operation& o, Mask mask) {
  const SignChange of_a = o.sign_a, of_b = o.sign_b, of_c = o.sign_c;
  map(warp, o, mask, [=](u32 a, u32 b, u32 c) {
    float x = as_float(has_signs ? change(a, of_a) : a), y = as_float(has_signs ? change(b, of_b) : b);
    float z = as_float(has_signs ? change(c, of_c) : c);
    if constexpr (ftz) {
      x = flush(x);
      y = flush(y);
      z = flush(z);
    }
    float result = 0;
    if constexpr (kind == Arithmetic::add)
      result = x + y;
    else if constexpr (kind == Arithmetic::multiply)
      result = x * y;
    else
      result = __builtin_fmaf(x, y, z);
    return finish(result, ftz, saturates);
  });
}
template <Arithmetic kind> Handler arithmetic_of(const Operands& x) {
  const bool has_signs =
      x.a.negated || x.a.absolute || x.b.negated || x.b.absolute || x.c.negated || x.c.absolute;
  constexpr Handler handlers[] = {arithmetic<kind, false, false, false>, arithmetic<kind, false, false, true>,
                                  arithmetic<kind, false, true, false>,  arithmetic<kind, false, true, true>,
                                  arithmetic<kind, true, false, false>,  arithmetic<kind, true, false, true>,
                                  arithmetic<kind, true, true, false>,   arithmetic<kind, true, true, true>};
  return handlers[has_signs * 4 + x.ftz * 2 + x.saturates];
}

void compare_floats(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b);
  const SignChange of_a = o.sign_a, of_b = o.sign_b;
  const bool ftz = o.operands->ftz;
  Row less, equal, greater, unordered;
  LOOP {
    float x = as_float(change(a[i], of_a)), y = as_float(change(b[i], of_b));
    x = ftz ? flush(x) : x;
    y = ftz ? flush(y) : y;
    less.lane[i] = x < y ? ~0u : 0u;
    equal.lane[i] = x == y ? ~0u : 0u;
    greater.lane[i] = x > y ? ~0u : 0u;
    unordered.lane[i] = x != x || y != y ? ~0u : 0u;
  }
  const u32 comparison = o.operands->comparison;
  Mask related = 0;
  if ((comparison & 1) != 0)
    related |= sign_bits(less.lane);
  if ((comparison & 2) != 0)
    related |= sign_bits(equal.lane);
  if ((comparison & 4) != 0)
    related |= sign_bits(greater.lane);
  if ((comparison & 8) != 0)
    related |= sign_bits(unordered.lane);
  set_compared(warp, o, related, mask);
}

void float_extreme(Warp& warp, const Operation& o, Mask mask) {
  Row minimum;
  spread(warp.predicate_in(o, 0), minimum.lane);
  const u32 *a = warp.row(o.a), *b = warp.row(o.b);
  const SignChange of_a = o.sign_a, of_b = o.sign_b;
  const bool ftz = o.operands->ftz;
  Row result;
  LOOP {
    u32 p = change(a[i], of_a), q = change(b[i], of_b);
    p = ftz ? bits_of(flush(as_float(p))) : p;
    q = ftz ? bits_of(flush(as_float(q))) : q;
    const float x = as_float(p), y = as_float(q);
    const bool wants_least = minimum.lane[i] != 0;
    // Equal numbers differ at most in their signs.
    const bool first = x == y ? (p >> 31 != 0) == wants_least : (x < y) == wants_least;
    u32 chosen = first ? p : q;
    chosen = x != x ? q : chosen;
    chosen = y != y ? p : chosen;
    result.lane[i] = x != x && y != y ? nan_bits : chosen;
  }
  put(warp.destination(o), result.lane, mask);
}

template <u32 (*function)(u32)> void special(Warp& warp, const Operation& o, Mask mask) {
  const SignChange sign = o.sign_b;
  map(warp, o, mask, [=](u32, u32 b, u32) { return function(change(b, sign)); });
}
u32 sine(u32 bits) {
  return special_sine(bits, false);
}
u32 cosine(u32 bits) {
  return special_sine(bits, true);
}

inline double double_at(const u32* row, unsigned i, SignChange sign) {
  return as_double(u64{change(row[lane_count + i], sign)} << 32 | row[i]);
}
template <Arithmetic kind> void double_arithmetic(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  const SignChange of_a = o.sign_a, of_b = o.sign_b, of_c = o.sign_c;
  u64 values[lane_count];
  LOOP {
    const double x = double_at(a, i, of_a), y = double_at(b, i, of_b), z = double_at(c, i, of_c);
    const double result = kind == Arithmetic::add        ? x + y
                          : kind == Arithmetic::multiply ? x * y
                                                         : __builtin_fma(x, y, z);
    values[i] = canonical(result);
  }
  put_pair(warp, o, values, mask);
}
void compare_doubles(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b);
  const SignChange of_a = o.sign_a, of_b = o.sign_b;
  const u32 comparison = o.operands->comparison;
  Row row;
  LOOP {
    const double x = double_at(a, i, of_a), y = double_at(b, i, of_b);
    const u32 relation =
        (x < y ? 1u : 0u) | (x == y ? 2u : 0u) | (x > y ? 4u : 0u) | (x != x || y != y ? 8u : 0u);
    row.lane[i] = (relation & comparison) != 0 ? ~0u : 0u;
  }
  set_compared(warp, o, sign_bits(row.lane), mask);
}

template <bool is_signed> void integer_to_float(Warp& warp, const Operation& o, Mask mask) {
  map(warp, o, mask, [](u32, u32 b, u32) {
    return bits_of(is_signed ? static_cast<float>(static_cast<i32>(b)) : static_cast<float>(b));
  });
}

// ---- halves

inline float half_of(u32 word, u32 shift, bool bf16) {
  const auto bits = static_cast<std::uint16_t>(word >> shift);
  return bf16 ? bfloat_to_float(bits) : half_to_float(bits);
}

/// HADD2, HMUL2 and HFMA2 of f16 without further modifiers. A source's swizzle says which half each of the
/// two results takes.
template <Arithmetic kind> void half_arithmetic(Warp& warp, const Operation& o, Mask mask) {
  const Operands& x = *o.operands;
  const auto shift_of = [](const sass::Source& source, bool upper) -> u32 {
    return source.swizzle == 2 ? 0 : source.swizzle == 3 ? 16 : upper ? 16 : 0;
  };
  const u32 a_low = shift_of(x.a, false), a_high = shift_of(x.a, true);
  const u32 b_low = shift_of(x.b, false), b_high = shift_of(x.b, true);
  const u32 c_low = shift_of(x.c, false), c_high = shift_of(x.c, true);
  const auto flip = [](const sass::Source& source) -> SignChange {
    return {source.absolute ? 0x7fff7fffu : ~0u, source.negated ? 0x80008000u : 0u};
  };
  const SignChange of_a = flip(x.a), of_b = flip(x.b), of_c = flip(x.c);
  map(warp, o, mask, [=](u32 a, u32 b, u32 c) {
    a = change(a, of_a);
    b = change(b, of_b);
    c = change(c, of_c);
    const auto compute = [](float p, float q, float r) -> u32 {
      float value = 0;
      if constexpr (kind == Arithmetic::add)
        value = sum_to_odd(p, q);
      else if constexpr (kind == Arithmetic::multiply)
        value = p * q;
      else
        value = sum_to_odd(p * q, r);
      return float_to_half(value);
    };
    const u32 low = compute(half_of(a, a_low, false), half_of(b, b_low, false), half_of(c, c_low, false));
    const u32 high = compute(half_of(a, a_high, false), half_of(b, b_high, false), half_of(c, c_high, false));
    return low | high << 16;
  });
}
void half_to_single(Warp& warp, const Operation& o, Mask mask) {
  const u32 shift = o.operands->b.swizzle == 3 ? 16 : 0;
  map(warp, o, mask, [=](u32, u32 b, u32) { return canonical(half_of(b, shift, false)); });
}
void pack_halves(Warp& warp, const Operation& o, Mask mask) {
  const SignChange of_a = o.sign_a, of_b = o.sign_b;
  map(warp, o, mask, [=](u32 a, u32 b, u32) {
    return u32{float_to_half(as_float(change(b, of_b)))} | u32{float_to_half(as_float(change(a, of_a)))}
                                                               << 16;
  });
}

// ---- memory

/// How the addresses of a warp's lanes lie to each other.
enum class Pattern { same, consecutive, other };

/// Classifies words that are offsets of accesses of `bytes` each; inactive lanes do not count. The first
/// active lane is the origin.
inline Pattern classify(const u32* words, Mask mask, u32 bytes, unsigned first) {
  const u32 origin = words[first] - first * bytes, only = words[first];
  if (mask == all_lanes) {
    u32 same = 0, consecutive = 0;
    LOOP {
      same |= words[i] ^ only;
      consecutive |= words[i] ^ (origin + i * bytes);
    }
    return same == 0 ? Pattern::same : consecutive == 0 ? Pattern::consecutive : Pattern::other;
  }
  u32 same = 0, consecutive = 0;
  LOOP {
    const u32 counts = 0u - (mask >> i & 1);
    same |= (words[i] ^ only) & counts;
    consecutive |= (words[i] ^ (origin + i * bytes)) & counts;
  }
  return same == 0 ? Pattern::same : consecutive == 0 ? Pattern::consecutive : Pattern::other;
}

/// Loads `words` words for each lane from bytes that lie beside each other, lane by lane.
template <unsigned words> inline void load_consecutive(u32* d, const std::byte* from, Mask mask) {
  if (mask == all_lanes) {
    if constexpr (words == 1) {
      std::memcpy(d, from, sizeof(Row));
    } else {
      u32 all[words * lane_count];
      std::memcpy(all, from, sizeof all);
      for (unsigned word = 0; word < words; ++word)
        LOOP d[word * lane_count + i] = all[i * words + word];
    }
    return;
  }
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned word = 0; word < words; ++word)
      std::memcpy(&d[word * lane_count + i], from + (i * words + word) * 4, 4);
  }
}
template <unsigned words> inline void load_same(u32* d, const std::byte* from, Mask mask) {
  u32 value[words];
  std::memcpy(value, from, sizeof value);
  for (unsigned word = 0; word < words; ++word) {
    u32* row = d + word * lane_count;
    const u32 one = value[word];
    if (mask == all_lanes)
      LOOP row[i] = one;
    else
      LOOP row[i] = (mask >> i & 1) != 0 ? one : row[i];
  }
}

/// Returns the lanes' 32-bit offsets in shared memory: register, scale, offset, uniform base.
inline void shared_addresses(Warp& warp, const Operation& o, u32* addresses) {
  const u32* a = warp.row(o.a);
  const u32 shift = o.operands->shift;
  const u32 base = static_cast<u32>(o.offset) +
                   (o.operands->base.kind != sass::Source::Kind::none ? warp.row(o.base)[0] : 0);
  LOOP addresses[i] = (a[i] << shift) + base;
}

template <unsigned words> void load_shared(Warp& warp, const Operation& o, Mask mask) {
  alignas(128) u32 addresses[lane_count];
  shared_addresses(warp, o, addresses);
  const Block& block = *warp.block;
  const u32 rank = block.rank << 24, limit = block.shared_bytes;
  u32* d = warp.destination(o);
  // All lanes must be inside, aligned, and in the block's own memory.
  u32 largest = 0, misaligned = 0;
  if (mask == all_lanes)
    LOOP {
      const u32 own = addresses[i] ^ rank;
      addresses[i] = own;
      largest = own > largest ? own : largest;
      misaligned |= own;
    }
  else
    LOOP {
      const u32 own = (mask >> i & 1) != 0 ? addresses[i] ^ rank : 0;
      addresses[i] = own;
      largest = own > largest ? own : largest;
      misaligned |= own;
    }
  if (largest + words * 4 > limit || largest > limit || (misaligned & (words * 4 - 1)) != 0)
    return select_warp_operation(*o.operands)(warp, o, mask);
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  switch (classify(addresses, mask, words * 4, first)) {
  case Pattern::same: return load_same<words>(d, block.shared + addresses[first], mask);
  case Pattern::consecutive:
    return load_consecutive<words>(d, block.shared + (i64{addresses[first]} - i64{first * words * 4}), mask);
  case Pattern::other: break;
  }
  if (mask == all_lanes) {
    for (unsigned word = 0; word < words; ++word)
      for (unsigned i = 0; i < lane_count; ++i)
        std::memcpy(&d[word * lane_count + i], block.shared + addresses[i] + 4 * word, 4);
    return;
  }
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned word = 0; word < words; ++word)
      std::memcpy(&d[word * lane_count + i], block.shared + addresses[i] + 4 * word, 4);
  }
}

template <unsigned words> void store_shared(Warp& warp, const Operation& o, Mask mask) {
  alignas(128) u32 addresses[lane_count];
  shared_addresses(warp, o, addresses);
  const Block& block = *warp.block;
  const u32 rank = block.rank << 24, limit = block.shared_bytes;
  const u32* from = warp.row(o.b);
  u32 largest = 0, misaligned = 0;
  LOOP {
    const u32 own = (mask >> i & 1) != 0 ? addresses[i] ^ rank : 0;
    addresses[i] = own;
    largest = own > largest ? own : largest;
    misaligned |= own;
  }
  if (largest + words * 4 > limit || largest > limit || (misaligned & (words * 4 - 1)) != 0)
    return select_warp_operation(*o.operands)(warp, o, mask);
  if (words == 1 && mask == all_lanes && classify(addresses, mask, 4, 0) == Pattern::consecutive) {
    std::memcpy(block.shared + addresses[0], from, sizeof(Row));
    return;
  }
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned word = 0; word < words; ++word)
      std::memcpy(block.shared + addresses[i] + 4 * word, &from[word * lane_count + i], 4);
  }
}

/// Global addresses as the first active lane's and the lanes' low words; whether all upper words are equal.
struct GlobalAddresses {
  alignas(128) u32 low[lane_count];
  alignas(128) u32 high[lane_count];
  bool is_near = false; ///< whether all active lanes have the first one's upper word
  unsigned first = 0;

  u64 at(unsigned lane) const { return u64{high[lane]} << 32 | low[lane]; }
};
inline void global_addresses(Warp& warp, const Operation& o, Mask mask, GlobalAddresses& to) {
  const u32* a = warp.row(o.a);
  u64 base = static_cast<u64>(o.offset);
  if (o.operands->base.kind != sass::Source::Kind::none) {
    const u32* row = warp.row(o.base);
    base += row[0] | (o.operands->base.words == 2 ? u64{row[lane_count]} << 32 : 0);
  }
  const bool wide = o.operands->address_is_wide;
  const bool is_long = wide || o.operands->base.words == 2;
  LOOP {
    const u64 address = (wide ? Pairs::at(a, i) : u64{a[i]}) + base;
    to.low[i] = static_cast<u32>(address);
    to.high[i] = is_long ? static_cast<u32>(address >> 32) : 0;
  }
  to.first = static_cast<unsigned>(std::countr_zero(mask));
  const u32 high = to.high[to.first];
  u32 differs = 0;
  LOOP differs |= (to.high[i] ^ high) & (0u - (mask >> i & 1));
  to.is_near = differs == 0;
}

/// Returns the bytes between the first and the last active lane of a consecutive access.
inline u32 extent(Mask mask, unsigned first, u32 bytes) {
  return (lane_count - static_cast<u32>(std::countl_zero(mask)) - first) * bytes;
}

template <unsigned words> void load_global(Warp& warp, const Operation& o, Mask mask) {
  GlobalAddresses to;
  global_addresses(warp, o, mask, to);
  Memory& memory = *warp.block->launch->memory;
  u32* d = warp.destination(o);
  warp.set_predicate(o.out[0], all_lanes, mask);
  constexpr u32 bytes = words * 4;
  const u64 start = to.at(to.first);
  if (to.is_near && start % bytes == 0) {
    const Pattern pattern = classify(to.low, mask, bytes, to.first);
    if (pattern == Pattern::same) {
      if (const std::byte* from = memory.read(start, bytes))
        return load_same<words>(d, from, mask);
    } else if (pattern == Pattern::consecutive) {
      if (const std::byte* from = memory.read(start, extent(mask, to.first, bytes)))
        return load_consecutive<words>(d, from - to.first * bytes, mask);
    }
  }
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const u64 address = to.at(i);
    const std::byte* from = address % bytes == 0 ? memory.read(address, bytes) : nullptr;
    if (!from)
      return fault(warp, o, address);
    for (unsigned word = 0; word < words; ++word)
      std::memcpy(&d[word * lane_count + i], from + 4 * word, 4);
  }
}

template <unsigned words> void store_global(Warp& warp, const Operation& o, Mask mask) {
  GlobalAddresses to;
  global_addresses(warp, o, mask, to);
  Memory& memory = *warp.block->launch->memory;
  const u32* from = warp.row(o.b);
  constexpr u32 bytes = words * 4;
  const u64 start = to.at(to.first);
  if (to.is_near && start % bytes == 0 && mask == all_lanes &&
      classify(to.low, mask, bytes, 0) == Pattern::consecutive) {
    if (std::byte* bytes_to = memory.write(start, lane_count * bytes, warp.pc)) {
      if constexpr (words == 1)
        std::memcpy(bytes_to, from, sizeof(Row));
      else {
        u32 all[words * lane_count];
        for (unsigned word = 0; word < words; ++word)
          LOOP all[i * words + word] = from[word * lane_count + i];
        std::memcpy(bytes_to, all, sizeof all);
      }
      return;
    }
  }
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const u64 address = to.at(i);
    std::byte* bytes_to = address % bytes == 0 ? memory.write(address, bytes, warp.pc) : nullptr;
    if (!bytes_to)
      return fault(warp, o, address);
    for (unsigned word = 0; word < words; ++word)
      std::memcpy(bytes_to + 4 * word, &from[word * lane_count + i], 4);
  }
}

/// Local memory has the words of all lanes beside each other: lanes at the same address take a row.
template <unsigned words, bool loads> void local_access(Warp& warp, const Operation& o, Mask mask) {
  alignas(128) u32 addresses[lane_count];
  shared_addresses(warp, o, addresses);
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const u32 at = addresses[first] & 0xffffff;
  if (classify(addresses, mask, 0, first) != Pattern::same || at % (4 * words) != 0 ||
      u64{at} + 4 * words > warp.local_bytes)
    return select_warp_operation(*o.operands)(warp, o, mask);
  u32* row = warp.local + u64{at} / 4 * lane_count;
  for (unsigned word = 0; word < words; ++word)
    if constexpr (loads)
      put(warp.destination(o) + word * lane_count, row + word * lane_count, mask);
    else
      put(row + word * lane_count, warp.row(o.b) + word * lane_count, mask);
}

// ---- lanes

void vote(Warp& warp, const Operation& o, Mask mask) {
  const Mask votes = warp.predicate_in(o, 0) & mask;
  const u32 function = o.operands->function;
  const bool result = function == 0   ? votes == mask
                      : function == 1 ? votes != 0
                                      : votes == mask || votes == 0;
  u32* d = warp.destination(o);
  if (o.operands->destination_uniform) {
    LOOP d[i] = votes;
    warp.set_predicate(o.out[0], result ? all_lanes : 0, all_lanes);
    return;
  }
  if (mask == all_lanes)
    LOOP d[i] = votes;
  else
    LOOP d[i] = (mask >> i & 1) != 0 ? votes : d[i];
  warp.set_predicate(o.out[0], result ? all_lanes : 0, mask);
}

template <std::uint8_t function> void shuffle(Warp& warp, const Operation& o, Mask mask) {
  const u32 *a = warp.row(o.a), *b = warp.row(o.b), *c = warp.row(o.c);
  Row source, inside;
  LOOP {
    const u32 segment = c[i] >> 8 & 31, clamp = c[i] & 31, lane = b[i] & 31;
    const u32 least = i & segment, most = least | (clamp & ~segment);
    i32 from = 0;
    bool in_bounds = false;
    if constexpr (function == 0) {
      from = static_cast<i32>(least | (lane & ~segment));
      in_bounds = from <= static_cast<i32>(most);
    } else if constexpr (function == 1) {
      from = static_cast<i32>(i - lane);
      in_bounds = from >= static_cast<i32>(most);
    } else if constexpr (function == 2) {
      from = static_cast<i32>(i + lane);
      in_bounds = from <= static_cast<i32>(most);
    } else {
      from = static_cast<i32>(i ^ lane);
      in_bounds = from <= static_cast<i32>(most);
    }
    source.lane[i] = in_bounds ? static_cast<u32>(from) : i;
    inside.lane[i] = in_bounds ? ~0u : 0u;
  }
  Row result;
  for (unsigned i = 0; i < lane_count; ++i)
    result.lane[i] = a[source.lane[i] & 31];
  put(warp.destination(o), result.lane, mask);
  warp.set_predicate(o.out[0], sign_bits(inside.lane), mask);
}

// ---- which function

bool reads_zero(const sass::Source& source) {
  return source.kind == sass::Source::Kind::none ||
         ((source.kind == sass::Source::Kind::general || source.kind == sass::Source::Kind::uniform) &&
          source.index == sass::zero_register) ||
         (source.kind == sass::Source::Kind::immediate && source.value == 0);
}

bool has_predicate_out(const Operands& x) {
  return x.predicate_out[0] != sass::true_predicate || x.predicate_out[1] != sass::true_predicate;
}

Handler select_lop3(const Operands& x) {
  if (x.predicate_out[0] != sass::true_predicate)
    return logic3_predicate;
  switch (x.lut) {
  case 0xc0: return logic3<0xc0>;
  case 0xfc: return logic3<0xfc>;
  case 0x3c: return logic3<0x3c>;
  case 0x33: return logic3<0x33>;
  case 0x0f: return logic3<0x0f>;
  case 0x30: return logic3<0x30>;
  case 0x0c: return logic3<0x0c>;
  case 0x80: return logic3<0x80>;
  case 0xf8: return logic3<0xf8>;
  case 0xea: return logic3<0xea>;
  case 0xe2: return logic3<0xe2>;
  case 0xb8: return logic3<0xb8>;
  case 0xca: return logic3<0xca>;
  case 0x96: return logic3<0x96>;
  case 0xfe: return logic3<0xfe>;
  case 0x78: return logic3<0x78>;
  default: return logic3_any;
  }
}

Handler select_shift(const Operands& x) {
  const bool is_signed = x.type == 0 || x.type == 2, words = x.type >= 2;
  if (words && !x.wraps && !x.right && !x.high)
    return shift_left;
  // The upper word of a pair, shifted right by at most 32, is a shift of that word alone.
  if (words && !x.wraps && x.right && x.high)
    return is_signed ? shift_right<true> : shift_right<false>;
  if (!x.right)
    return x.high ? shift64<false, false, true> : shift64<false, false, false>;
  if (is_signed)
    return x.high ? shift64<true, true, true> : shift64<true, true, false>;
  return x.high ? shift64<true, false, true> : shift64<true, false, false>;
}

Handler select_access(const Operands& x) {
  if (x.bytes < 4 || x.bytes > 16)
    return nullptr;
  const bool loads = x.opcode == Opcode::load;
  const unsigned words = x.bytes / 4;
  switch (x.space) {
  case sass::Space::global:
    if (loads)
      return words == 1 ? load_global<1> : words == 2 ? load_global<2> : load_global<4>;
    return words == 1 ? store_global<1> : words == 2 ? store_global<2> : store_global<4>;
  case sass::Space::shared:
    if (loads)
      return words == 1 ? load_shared<1> : words == 2 ? load_shared<2> : load_shared<4>;
    return words == 1 ? store_shared<1> : words == 2 ? store_shared<2> : store_shared<4>;
  case sass::Space::local:
    if (loads)
      return words == 1 ? local_access<1, true> : words == 2 ? local_access<2, true> : local_access<4, true>;
    return words == 1 ? local_access<1, false> : words == 2 ? local_access<2, false> : local_access<4, false>;
  default: return nullptr;
  }
}

bool is_plain_half(const Operands& x) {
  return !x.bf16 && !x.float_result && !x.saturates && !x.relu && !x.ftz && x.a.swizzle != 1 &&
         x.b.swizzle != 1 && x.c.swizzle != 1;
}

} // namespace

Handler select(const Operands& x) {
  const bool nearest = x.rounding == sass::Rounding::nearest;
  switch (x.opcode) {
  case Opcode::mov: return x.wide ? move_pair : move;
  case Opcode::sel:
    if (x.wide)
      return nullptr;
    return x.a.negated || x.a.absolute || x.b.negated || x.b.absolute ? choose<true> : choose<false>;
  case Opcode::iadd3:
    if (x.extended || has_predicate_out(x))
      return add3_carries;
    return x.a.negated || x.b.negated || x.c.negated ? add3_negated : add3;
  case Opcode::imad:
    if (x.extended || has_predicate_out(x))
      return nullptr;
    return x.c.negated ? multiply_add_negated : multiply_add;
  case Opcode::imad_wide:
    if (!x.extended && !has_predicate_out(x) && !x.c.negated)
      return x.is_signed ? multiply_add_wide<true> : multiply_add_wide<false>;
    [[fallthrough]];
  case Opcode::imad_hi: return x.is_signed ? multiply_add_high<true> : multiply_add_high<false>;
  case Opcode::lea:
    if (!x.high && !x.extended && !x.a.negated && !x.b.negated && !has_predicate_out(x))
      return shifted_add;
    return shifted_add_carries;
  case Opcode::lop3: return select_lop3(x);
  case Opcode::shf: return select_shift(x);
  case Opcode::prmt:
    return x.function == 0 && x.b.kind == sass::Source::Kind::immediate && (x.b.value & 0x8888) == 0
               ? permute
               : nullptr;
  case Opcode::isetp:
    if (x.wide)
      return nullptr;
    if (x.extended)
      return x.is_signed ? comparison_of_integers<true, true>(x.comparison)
                         : comparison_of_integers<false, true>(x.comparison);
    return x.is_signed ? comparison_of_integers<true, false>(x.comparison)
                       : comparison_of_integers<false, false>(x.comparison);
  case Opcode::imnmx:
    if (x.wide || x.function != 0 || x.relu || x.predicate_out[0] != sass::true_predicate)
      return nullptr;
    return x.is_signed ? extreme<i32> : extreme<u32>;
  case Opcode::popc: return count_bits;
  case Opcode::iabs: return absolute;
  case Opcode::plop3: return combine_predicates;
  case Opcode::fadd: return nearest ? arithmetic_of<Arithmetic::add>(x) : nullptr;
  case Opcode::fmul: return nearest ? arithmetic_of<Arithmetic::multiply>(x) : nullptr;
  case Opcode::ffma: return nearest ? arithmetic_of<Arithmetic::multiply_add>(x) : nullptr;
  case Opcode::fsetp: return compare_floats;
  case Opcode::fmnmx: return x.function == 0 && x.boolean == 0 ? float_extreme : nullptr;
  case Opcode::mufu:
    if (x.type != 0)
      return nullptr;
    switch (x.function) {
    case 0: return special<cosine>;
    case 1: return special<sine>;
    case 2: return special<special_exp2>;
    case 3: return special<special_log2>;
    case 4: return special<special_reciprocal>;
    case 5: return special<special_reciprocal_root>;
    case 8: return special<special_root>;
    default: return nullptr;
    }
  case Opcode::dadd: return nearest ? double_arithmetic<Arithmetic::add> : nullptr;
  case Opcode::dmul: return nearest ? double_arithmetic<Arithmetic::multiply> : nullptr;
  case Opcode::dfma: return nearest ? double_arithmetic<Arithmetic::multiply_add> : nullptr;
  case Opcode::dsetp: return x.comparison == 0 || x.comparison == 15 ? nullptr : compare_doubles;
  case Opcode::i2f:
    if (x.type == 2 && x.source_type == 2 && nearest)
      return x.is_signed ? integer_to_float<true> : integer_to_float<false>;
    return nullptr;
  case Opcode::f2fp: return x.function == 0 && !x.bf16 && !x.relu && nearest ? pack_halves : nullptr;
  case Opcode::hfma2:
    // The compiler's way to load a constant: nothing is added to it.
    if (reads_zero(x.a) && reads_zero(x.b) && x.c.kind == sass::Source::Kind::immediate && !x.saturates &&
        !x.relu && !x.ftz && x.a.negated && !x.float_result)
      return move_c;
    return is_plain_half(x) ? half_arithmetic<Arithmetic::multiply_add> : nullptr;
  case Opcode::hadd2:
    if (x.float_result && !x.bf16 && reads_zero(x.a) && x.a.negated && !x.b.negated && !x.b.absolute &&
        x.b.swizzle >= 2)
      return half_to_single;
    return is_plain_half(x) ? half_arithmetic<Arithmetic::add> : nullptr;
  case Opcode::hmul2: return is_plain_half(x) ? half_arithmetic<Arithmetic::multiply> : nullptr;
  case Opcode::vote: return vote;
  case Opcode::shfl:
    switch (x.function) {
    case 0: return shuffle<0>;
    case 1: return shuffle<1>;
    case 2: return shuffle<2>;
    default: return shuffle<3>;
    }
  case Opcode::load:
  case Opcode::store: return select_access(x);
  default: return select_vector_product(x);
  }
}

} // namespace warplens::machine::WARPLENS_MACHINE_ISA
