// Products of tensor cores in vector code. The file is compiled once for each kind of processor, into the
// namespace WARPLENS_MACHINE_ISA.
#include "machine/vector_products.h"

#include "machine/integers.h"
#include "machine/numbers.h"
#include "machine/shared_matrix.h"
#include "machine/small_floats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

namespace warplens::machine::WARPLENS_MACHINE_ISA {
namespace {

using sass::Opcode;
using sass::Operands;

/// How an element's bits are a number.
enum class Kind : std::uint8_t { half, bfloat, tf32, signed_byte, byte, small_float };

/// Returns the numbers that the bits of small floats stand for.
const std::array<double, 256>& values_of(sass::SmallFloat kind) {
  const auto values = [](sass::SmallFloat of) {
    std::array<double, 256> numbers{};
    for (u32 bits = 0; bits < numbers.size(); ++bits)
      numbers[bits] = small_float(of, bits);
    return numbers;
  };
  static const std::array<double, 256> e4m3 = values(sass::SmallFloat::e4m3),
                                       e5m2 = values(sass::SmallFloat::e5m2);
  return kind == sass::SmallFloat::e4m3 ? e4m3 : e5m2;
}

/// Reads the elements of a word of factors, of a type that is the same for many.
class Elements {
public:
  Elements(Kind kind, sass::SmallFloat small, bool negates)
      : kind_(kind), negates_(negates),
        small_floats_(kind == Kind::small_float ? values_of(small).data() : nullptr) {}
  u32 per_word() const {
    return kind_ == Kind::tf32 ? 1 : kind_ == Kind::half || kind_ == Kind::bfloat ? 2 : 4;
  }
  /// Writes the numbers of a word.
  void read(u32 word, double* to) const {
    switch (kind_) {
    case Kind::half:
      to[0] = half_to_float(static_cast<std::uint16_t>(word));
      to[1] = half_to_float(static_cast<std::uint16_t>(word >> 16));
      break;
    case Kind::bfloat:
      to[0] = as_float(word << 16);
      to[1] = as_float(word & 0xffff0000);
      break;
    case Kind::tf32: to[0] = as_float(word & 0xffffe000); break;
    case Kind::signed_byte:
      for (u32 i = 0; i < 4; ++i)
        to[i] = static_cast<std::int8_t>(word >> 8 * i);
      break;
    case Kind::byte:
      for (u32 i = 0; i < 4; ++i)
        to[i] = word >> 8 * i & 0xff;
      break;
    case Kind::small_float:
      for (u32 i = 0; i < 4; ++i)
        to[i] = small_floats_[word >> 8 * i & 0xff];
      break;
    }
    if (negates_)
      for (u32 i = 0; i < per_word(); ++i)
        to[i] = -to[i];
  }

  /// Writes the numbers of the same word of eight columns, those of each element beside each other.
  void read_columns(const u32 (&words)[8], double (*to)[8]) const {
    switch (kind_) {
    case Kind::half:
      for (u32 column = 0; column < 8; ++column) {
        to[0][column] = half_to_float(static_cast<std::uint16_t>(words[column]));
        to[1][column] = half_to_float(static_cast<std::uint16_t>(words[column] >> 16));
      }
      break;
    case Kind::bfloat:
      for (u32 column = 0; column < 8; ++column) {
        to[0][column] = as_float(words[column] << 16);
        to[1][column] = as_float(words[column] & 0xffff0000);
      }
      break;
    case Kind::tf32:
      for (u32 column = 0; column < 8; ++column)
        to[0][column] = as_float(words[column] & 0xffffe000);
      break;
    case Kind::signed_byte:
      for (u32 i = 0; i < 4; ++i)
        for (u32 column = 0; column < 8; ++column)
          to[i][column] = static_cast<std::int8_t>(words[column] >> 8 * i);
      break;
    case Kind::byte:
      for (u32 i = 0; i < 4; ++i)
        for (u32 column = 0; column < 8; ++column)
          to[i][column] = words[column] >> 8 * i & 0xff;
      break;
    case Kind::small_float:
      for (u32 i = 0; i < 4; ++i)
        for (u32 column = 0; column < 8; ++column)
          to[i][column] = small_floats_[words[column] >> 8 * i & 0xff];
      break;
    }
    if (negates_)
      for (u32 i = 0; i < per_word(); ++i)
        for (u32 column = 0; column < 8; ++column)
          to[i][column] = -to[i][column];
  }

private:
  Kind kind_;
  bool negates_;
  const double* small_floats_; ///< by their bits; null for other kinds
};

// ---- products of warps

/// Numbers of double precision beside each other.
typedef double Doubles __attribute__((vector_size(32)));
constexpr u32 doubles = 4;

/// The product of two factors is exact: one rounding or two are the same.
inline void add_product(double a, const Doubles& b, Doubles& sum) {
#if defined(__FMA__) && defined(__clang__)
  sum = __builtin_elementwise_fma(Doubles{a, a, a, a}, b, sum);
#else
  sum += Doubles{a, a, a, a} * b;
#endif
}

/// The columns of a sum of 16 × 8 in this file: first the even ones, then the odd ones, as a row's lanes have
/// them.
constexpr u32 place_of_column(u32 column) {
  return column % 2 * doubles + column / 2;
}

/// Reads a sum of 16 × 8 as its lanes have it, rows of floats or of pairs of halves.
void read_sums(const Operands& x, const u32* from, double (&c)[16][8]) {
  for (u32 half = 0; half < 2; ++half)
    for (u32 g = 0; g < 8; ++g) {
      double* const to = c[g + 8 * half];
      if (x.float_result)
        for (u32 odd = 0; odd < 2; ++odd)
          for (u32 t = 0; t < 4; ++t)
            to[4 * odd + t] = as_float(from[(2 * half + odd) * lane_count + 4 * g + t]);
      else
        for (u32 t = 0; t < 4; ++t) {
          const u32 both = from[half * lane_count + 4 * g + t];
          to[t] = half_to_float(static_cast<std::uint16_t>(both));
          to[4 + t] = half_to_float(static_cast<std::uint16_t>(both >> 16));
        }
    }
}
void write_sums(const Operands& x, const double (&c)[16][8], u32* d) {
  for (u32 half = 0; half < 2; ++half)
    for (u32 g = 0; g < 8; ++g) {
      const double* const from = c[g + 8 * half];
      if (x.float_result)
        for (u32 odd = 0; odd < 2; ++odd)
          for (u32 t = 0; t < 4; ++t)
            d[(2 * half + odd) * lane_count + 4 * g + t] = canonical(static_cast<float>(from[4 * odd + t]));
      else
        for (u32 t = 0; t < 4; ++t)
          d[half * lane_count + 4 * g + t] = u32{double_to_half(from[t], Direction::nearest)} |
                                             u32{double_to_half(from[4 + t], Direction::nearest)} << 16;
    }
}

/// Adds to sums of 16 × 8 the products of factors, each sum in the order of k.
template <u32 most>
void add_tile_products(const double (&a)[16][most], const double (&b)[most][8], u32 depth,
                       double (&c)[16][8]) {
  constexpr u32 at_once = 4; // rows, whose sums stay in registers
  for (u32 first = 0; first < 16; first += at_once) {
    Doubles sums[at_once][2];
    std::memcpy(sums, c[first], sizeof sums);
    for (u32 k = 0; k < depth; ++k) {
      Doubles of_b[2];
      std::memcpy(of_b, b[k], sizeof of_b);
      for (u32 row = 0; row < at_once; ++row)
        for (u32 part = 0; part < 2; ++part)
          add_product(a[first + row][k], of_b[part], sums[row][part]);
    }
    std::memcpy(c[first], sums, sizeof sums);
  }
}

/// HMMA of dense factors.
template <Kind kind> void multiply_halves(Warp& warp, const Operation& o, Mask) {
  constexpr u32 of_word = kind == Kind::tf32 ? 1 : 2;
  using Element = std::conditional_t<kind == Kind::tf32, u32, std::uint16_t>;
  constexpr u32 of_chunk = 4 * of_word; // elements of a row, which four lanes have beside each other
  const Operands& x = *o.operands;
  const u32 depth = x.function, chunks = depth / of_chunk;
  alignas(32) double a[16][16], b[16][8], c[16][8];
  const u32 *from_a = warp.row(o.a), *from_b = warp.row(o.b);
  const auto number = [](Element bits) -> float {
    if constexpr (kind == Kind::tf32)
      return as_float(bits & 0xffffe000);
    else if constexpr (kind == Kind::bfloat)
      return bfloat_to_float(bits);
    else
      return half_to_float(bits);
  };
  for (u32 chunk = 0; chunk < chunks; ++chunk) {
    for (u32 row = 0; row < 16; ++row) {
      Element bits[of_chunk];
      std::memcpy(bits, from_a + (2 * chunk + row / 8) * lane_count + row % 8 * 4, sizeof bits);
      for (u32 k = 0; k < of_chunk; ++k)
        a[row][chunk * of_chunk + k] = number(bits[k]);
    }
    Element bits[8][of_chunk];
    std::memcpy(bits, from_b + chunk * lane_count, sizeof bits);
    for (u32 k = 0; k < of_chunk; ++k)
      for (u32 column = 0; column < 8; ++column)
        b[chunk * of_chunk + k][place_of_column(column)] = number(bits[column][k]);
  }
  read_sums(x, warp.row(o.c), c);
  add_tile_products(a, b, depth, c);
  write_sums(x, c, warp.destination(o));
}

/// IMMA of dense bytes.
void multiply_bytes(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 rows = x.function, depth = x.selector, chunks = depth / 16, halves = rows / 8;
  i32 a[16][32], b[32][8], c[16][8] = {};
  const u32 *from_a = warp.row(o.a), *from_b = warp.row(o.b), *from_c = warp.row(o.c);
  const auto element = [](u32 word, u32 which, bool is_signed) {
    return is_signed ? i32{static_cast<std::int8_t>(word >> 8 * which)} : i32(word >> 8 * which & 0xff);
  };
  for (u32 chunk = 0; chunk < chunks; ++chunk)
    for (u32 lane = 0; lane < lane_count; ++lane)
      for (u32 which = 0; which < 4; ++which) {
        const u32 g = lane / 4, k = chunk * 16 + lane % 4 * 4 + which;
        for (u32 half = 0; half < halves; ++half)
          a[g + 8 * half][k] =
              element(from_a[(chunk * halves + half) * lane_count + lane], which, x.is_signed);
        b[k][g] = element(from_b[chunk * lane_count + lane], which, x.source_type != 0);
      }
  for (u32 row = 0; row < rows; ++row)
    for (u32 k = 0; k < depth; ++k)
      for (u32 column = 0; column < 8; ++column)
        c[row][column] += a[row][k] * b[k][column];
  u32* d = warp.destination(o);
  for (u32 row = 0; row < rows; ++row)
    for (u32 column = 0; column < 8; ++column) {
      const u32 at = (row / 8 * 2 + column % 2) * lane_count + row % 8 * 4 + column / 2;
      i64 sum = i64{static_cast<i32>(from_c[at])} + c[row][column];
      if (x.saturates)
        sum = std::clamp<i64>(sum, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max());
      d[at] = static_cast<u32>(sum);
    }
}

// ---- products of warp groups

Elements elements_of_group(const Operands& x, bool is_a) {
  const bool negates = (is_a ? x.a : x.b).negated;
  if (x.opcode == Opcode::igmma)
    return {(is_a ? x.is_signed : x.source_type != 0) ? Kind::signed_byte : Kind::byte, {}, false};
  if (x.opcode == Opcode::qgmma)
    return {Kind::small_float, static_cast<sass::SmallFloat>(is_a ? x.type : x.source_type), negates};
  return {x.type == 2 ? Kind::tf32 : x.type == 1 ? Kind::bfloat : Kind::half, {}, negates};
}

/// Reads a sum of 16 × 8 integers as its lanes have it.
void read_integer_sums(const u32* from, double (&c)[16][8]) {
  for (u32 row = 0; row < 16; ++row)
    for (u32 odd = 0; odd < 2; ++odd)
      for (u32 t = 0; t < 4; ++t)
        c[row][4 * odd + t] = static_cast<i32>(from[(row / 8 * 2 + odd) * lane_count + row % 8 * 4 + t]);
}
void write_integer_sums(const Operands& x, const double (&c)[16][8], u32* d) {
  constexpr i64 lowest = std::numeric_limits<i32>::min(), highest = std::numeric_limits<i32>::max();
  for (u32 row = 0; row < 16; ++row)
    for (u32 odd = 0; odd < 2; ++odd)
      for (u32 t = 0; t < 4; ++t) {
        const i64 sum = i64(c[row][4 * odd + t]);
        d[(row / 8 * 2 + odd) * lane_count + row % 8 * 4 + t] =
            static_cast<u32>(x.saturates ? std::clamp(sum, lowest, highest) : sum);
      }
}

/// This warp has 16 of the 64 rows.
void multiply_by_warp_group(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 columns = 8 * u32{x.function}, depth = x.selector, bytes = 32 / depth;
  const u32 first_row = warp.index % 4 * 16;
  const Elements of_a = elements_of_group(x, true), of_b = elements_of_group(x, false);
  const auto descriptor = [&](const RowPlace& place) {
    const u32* row = warp.row(place);
    return u64{row[lane_count]} << 32 | row[0];
  };
  const u32 per_word = of_a.per_word();
  double a[16][32];
  if (x.a.kind == sass::Source::Kind::uniform) {
    SharedMatrix matrix(warp, warp.block->rank, descriptor(o.a), x.product.transposes_a);
    for (u32 row = 0; row < 16; ++row) {
      const auto words = matrix.row(first_row + row, bytes);
      for (u32 word = 0; word < words.size(); ++word)
        of_a.read(words[word], &a[row][word * per_word]);
    }
    if (matrix.outside)
      return fault(warp, o, *matrix.outside);
  } else {
    const u32* from = warp.row(o.a);
    for (u32 lane = 0; lane < lane_count; ++lane)
      for (u32 word = 0; word < 4; ++word)
        of_a.read(from[word * lane_count + lane],
                  &a[lane / 4 + 8 * (word % 2)][per_word * (lane % 4) + 4 * per_word * (word / 2)]);
  }
  SharedMatrix matrix(warp, warp.block->rank, descriptor(o.b), x.product.transposes_b);
  const bool adds = warp.predicate_in(o, 0) != 0, of_integers = x.opcode == Opcode::igmma;
  const u32 words_of_sums = of_integers || x.float_result ? 4 : 2; // of a lane, of 16 × 8
  const u32* from_c = warp.row(o.c);
  u32* d = warp.destination(o);
  for (u32 first = 0; first < columns; first += 8) {
    u32 words[8][8]; // of the depth, by columns
    for (u32 column = 0; column < 8; ++column) {
      const auto of_column = matrix.row(first + column, bytes);
      for (u32 word = 0; word < 8; ++word)
        words[word][place_of_column(column)] = of_column[word];
    }
    alignas(32) double b[32][8], c[16][8] = {};
    for (u32 word = 0; word < 8; ++word)
      of_b.read_columns(words[word], &b[word * per_word]);
    if (adds && of_integers)
      read_integer_sums(from_c, c);
    else if (adds)
      read_sums(x, from_c, c);
    add_tile_products(a, b, depth, c);
    if (of_integers)
      write_integer_sums(x, c, d);
    else
      write_sums(x, c, d);
    from_c += words_of_sums * lane_count;
    d += words_of_sums * lane_count;
  }
  if (matrix.outside)
    fault(warp, o, *matrix.outside);
}

} // namespace

void add_products(double* sums, const double* a, const double (*b)[columns_at_once], u32 depth) {
  constexpr u32 parts = columns_at_once / doubles;
  Doubles own[parts];
  std::memcpy(own, sums, sizeof own);
  for (u32 k = 0; k < depth; ++k) {
    Doubles of_b[parts];
    std::memcpy(of_b, b[k], sizeof of_b);
    for (u32 part = 0; part < parts; ++part)
      add_product(a[k], of_b[part], own[part]);
  }
  std::memcpy(sums, own, sizeof own);
}

Handler select_vector_product(const Operands& x) {
  switch (x.opcode) {
  case Opcode::hmma:
    if (x.product.is_sparse)
      return nullptr;
    return x.type == 2   ? multiply_halves<Kind::tf32>
           : x.type == 1 ? multiply_halves<Kind::bfloat>
                         : multiply_halves<Kind::half>;
  case Opcode::imma: return x.product.is_sparse || x.type != 8 ? nullptr : multiply_bytes;
  case Opcode::hgmma:
  case Opcode::igmma:
  case Opcode::qgmma: return multiply_by_warp_group;
  case Opcode::utcmma: return select_tensor_memory_product(add_products);
  default: return nullptr;
  }
}

} // namespace warplens::machine::WARPLENS_MACHINE_ISA
