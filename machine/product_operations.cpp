// Products of matrices by tensor cores. Fragments are as PTX' mma instructions have them: g is the lane's
// group of four, t its place in it.
#include "machine/integers.h"
#include "machine/numbers.h"
#include "machine/shared_matrix.h"
#include "machine/small_floats.h"
#include "machine/warp.h"

#include <algorithm>
#include <limits>

namespace warplens::machine {
namespace {

using sass::Opcode;
using sass::Operands;
using sass::SmallFloat;

float element_of(const Operands& x, u32 word, u32 which) {
  const auto half = static_cast<std::uint16_t>(word >> (16 * which));
  return x.type == 1 ? bfloat_to_float(half) : half_to_float(half);
}

/// Reads a lane's four elements of a sum of 16 × 8, of floats or halves.
void read_accumulator(const Operands& x, const u32* from, u32 lane, double (&c)[16][8]) {
  for (u32 element = 0; element < 4; ++element)
    c[lane / 4 + 8 * (element / 2)][2 * (lane % 4) + element % 2] =
        x.float_result ? double{as_float(from[element * lane_count + lane])}
                       : double{half_to_float(static_cast<std::uint16_t>(
                             from[element / 2 * lane_count + lane] >> (16 * (element % 2))))};
}

template <std::size_t most>
void add_products(const double (&a)[16][most], const double (&b)[most][8], u32 depth, double (&c)[16][8]) {
  for (u32 row = 0; row < 16; ++row)
    for (u32 k = 0; k < depth; ++k)
      for (u32 column = 0; column < 8; ++column)
        c[row][column] += a[row][k] * b[k][column];
}

void write_accumulator(Warp& warp, const Operation& o, const double (&c)[16][8]) {
  u32* d = warp.destination(o);
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const u32 g = lane / 4, t = lane % 4;
    for (u32 half = 0; half < 2; ++half) {
      const double first = c[g + 8 * half][2 * t], second = c[g + 8 * half][2 * t + 1];
      if (o.operands->float_result) {
        d[2 * half * lane_count + lane] = canonical(static_cast<float>(first));
        d[(2 * half + 1) * lane_count + lane] = canonical(static_cast<float>(second));
      } else
        d[half * lane_count + lane] = u32{double_to_half(first, Direction::nearest)} |
                                      u32{double_to_half(second, Direction::nearest)} << 16;
    }
  }
}

/// Returns a small float from its byte, in which those of 4 bits have two below them.
u32 bits_in_byte(SmallFloat kind, u32 byte) {
  switch (kind) {
  case SmallFloat::e2m1: return byte >> 2 & 15;
  case SmallFloat::e3m2:
  case SmallFloat::e2m3: return byte & 63;
  default: return byte;
  }
}

float tf32_of(u32 bits) {
  return as_float(bits & 0xffffe000);
}

/// Spreads the elements of a sparse A to their places: of each `group` columns the half is there. Lanes hold
/// the places of 32 / group packed columns of their row, and behind them those of the row 8 below (PTX ISA,
/// "Matrix Fragments for sparse mma.m16n8k32").
template <class Number, std::size_t most>
void spread(const Operands& x, const u32* places, u32 group, u32 depth, Number (&a)[16][most]) {
  const u32 bits = group == 4 ? 2 : 4; // of a place: its number, or that of the first of two halves
  const u32 per_lane = 16 / bits, lanes = depth / 2 / per_lane;
  for (u32 row = 0; row < 16; ++row) {
    Number packed[most];
    std::copy_n(a[row], depth / 2, packed);
    std::fill_n(a[row], depth, Number{});
    for (u32 k = 0; k < depth / 2; ++k) {
      const u32 word = places[row % 8 * 4 + (x.product.selector * lanes + k / per_lane) % 4];
      const u32 place = word >> (row / 8 * 16 + k % per_lane * bits) & ((1u << bits) - 1);
      a[row][group == 4 ? k / 2 * 4 + place : 2 * k + (place >> 1 & 1)] = packed[k];
    }
  }
}

/// HMMA: 16 × 8 × depth. Products are exact and summed in double precision, with one rounding at the end; the
/// hardware's order and truncation of the sum are not known, and differ by architecture.
void multiply_halves(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 depth = x.function;
  const bool tf32 = x.type == 2;
  const u32 depth_of_a = x.product.is_sparse ? depth / 2 : depth;
  double a[16][32] = {}, b[32][8] = {}, c[16][8];
  const u32 *from_a = warp.row(o.a), *from_b = warp.row(o.b), *from_c = warp.row(o.c);
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const u32 g = lane / 4, t = lane % 4;
    if (tf32) {
      for (u32 word = 0; word < depth_of_a / 2; ++word)
        a[g + 8 * (word % 2)][t + 4 * (word / 2)] = tf32_of(from_a[word * lane_count + lane]);
      for (u32 word = 0; word < depth / 4; ++word)
        b[t + 4 * word][g] = tf32_of(from_b[word * lane_count + lane]);
    } else {
      for (u32 word = 0; word < depth_of_a / 4; ++word)
        for (u32 which = 0; which < 2; ++which)
          a[g + 8 * (word % 2)][2 * t + 8 * (word / 2) + which] =
              element_of(x, from_a[word * lane_count + lane], which);
      for (u32 word = 0; word < depth / 8; ++word)
        for (u32 which = 0; which < 2; ++which)
          b[2 * t + 8 * word + which][g] = element_of(x, from_b[word * lane_count + lane], which);
    }
    read_accumulator(x, from_c, lane, c);
  }
  if (x.product.is_sparse)
    spread(x, warp.row(o.d), tf32 ? 2 : 4, depth, a);
  add_products(a, b, depth, c);
  write_accumulator(warp, o, c);
}

/// QMMA and OMMA: 16 × 8 × depth of floats of 8 bits or fewer, with scales or without.
void multiply_small_floats(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const bool of_nibbles = x.opcode == Opcode::omma;
  const u32 depth = x.function, per_word = of_nibbles ? 8 : 4, per_chunk = 4 * per_word;
  const u32 depth_of_a = x.product.is_sparse ? depth / 2 : depth;
  double a[16][64] = {}, b[64][8] = {}, c[16][8];
  const u32 *from_a = warp.row(o.a), *from_b = warp.row(o.b), *from_c = warp.row(o.c);
  const auto element = [&](u32 word, u32 which, std::uint8_t type) {
    const auto kind = static_cast<SmallFloat>(type);
    return of_nibbles ? small_float(SmallFloat::e2m1, word >> (4 * which) & 15)
                      : small_float(kind, bits_in_byte(kind, word >> (8 * which) & 0xff));
  };
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const u32 g = lane / 4, t = lane % 4;
    for (u32 word = 0; word < 2 * depth_of_a / per_chunk; ++word)
      for (u32 which = 0; which < per_word; ++which)
        a[g + 8 * (word % 2)][per_word * t + per_chunk * (word / 2) + which] =
            element(from_a[word * lane_count + lane], which, x.type);
    for (u32 word = 0; word < depth / per_chunk; ++word)
      for (u32 which = 0; which < per_word; ++which)
        b[per_word * t + per_chunk * word + which][g] =
            element(from_b[word * lane_count + lane], which, x.source_type);
    read_accumulator(x, from_c, lane, c);
  }
  if (x.product.is_sparse)
    spread(x, warp.row(o.d), 4, depth, a);
  if (x.product.is_scaled) {
    const u32 selectors = warp.row(o.base)[0], per_scale = depth / x.product.scales_per_row;
    const u32 *of_a = warp.row(o.d), *of_b = warp.row(o.e);
    const auto scale = [&](u32 word, u32 byte) {
      const u32 bits = word >> (8 * byte) & 0xff;
      return x.product.scales_per_row == 4 ? small_float(SmallFloat::e4m3, bits & 0x7f) : power_of_two(bits);
    };
    for (u32 k = 0; k < depth; ++k) {
      for (u32 row = 0; row < 16; ++row)
        a[row][k] *=
            scale(of_a[row % 8 * 4 + 2 * (selectors >> 2 & 1) + row / 8], (selectors & 3) + k / per_scale);
      for (u32 column = 0; column < 8; ++column)
        b[k][column] *= scale(of_b[column * 4 + (selectors >> 5 & 3)], (selectors >> 3 & 3) + k / per_scale);
    }
  }
  add_products(a, b, depth, c);
  write_accumulator(warp, o, c);
}

/// IMMA and BMMA: rows × 8 × depth of integers of 4 or 8 bits, or of bits, whose products are `and` or `xor`.
void multiply_integers(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 rows = x.function, depth = x.selector, bits = x.type, per_word = 32 / bits;
  const u32 depth_of_a = x.product.is_sparse ? depth / 2 : depth;
  const bool are_different = x.opcode == Opcode::bmma && x.boolean != 0; // xor
  i32 a[16][256] = {}, b[256][8] = {};
  i64 c[16][8];
  const u32 *from_a = warp.row(o.a), *from_b = warp.row(o.b), *from_c = warp.row(o.c);
  const auto element = [&](u32 word, u32 which, bool is_signed) {
    const u32 shifted = word >> (bits * which) << (32 - bits);
    return is_signed ? static_cast<i32>(shifted) >> (32 - bits) : static_cast<i32>(shifted >> (32 - bits));
  };
  const u32 chunks = depth / (4 * per_word), halves = rows / 8;
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const u32 g = lane / 4, t = lane % 4;
    for (u32 chunk = 0; chunk < chunks; ++chunk)
      for (u32 which = 0; which < per_word; ++which) {
        const u32 k = chunk * 4 * per_word + t * per_word + which;
        for (u32 half = 0; half < halves && k < depth_of_a; ++half)
          a[g + 8 * half][k] =
              element(from_a[(chunk * halves + half) * lane_count + lane], which, x.is_signed);
        b[k][g] = element(from_b[chunk * lane_count + lane], which, x.source_type != 0);
      }
    for (u32 word = 0; word < 2 * halves; ++word)
      c[g + 8 * (word / 2)][2 * t + word % 2] = static_cast<i32>(from_c[word * lane_count + lane]);
  }
  if (x.product.is_sparse)
    spread(x, warp.row(o.d), 4, depth, a);
  u32* d = warp.destination(o);
  for (u32 row = 0; row < rows; ++row)
    for (u32 column = 0; column < 8; ++column) {
      i64 sum = c[row][column];
      for (u32 k = 0; k < depth; ++k)
        sum += are_different ? a[row][k] ^ b[k][column] : i64{a[row][k]} * b[k][column];
      if (x.saturates)
        sum = std::clamp<i64>(sum, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max());
      const u32 lane = row % 8 * 4 + column / 2, word = row / 8 * 2 + column % 2;
      d[word * lane_count + lane] = static_cast<u32>(sum);
    }
}

/// DMMA: by fused multiply-adds in the order of k.
void multiply_doubles(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 rows = x.function, depth = x.selector, halves = rows / 8;
  double a[16][16], b[16][8], c[16][8];
  const u32 *from_a = warp.row(o.a), *from_b = warp.row(o.b), *from_c = warp.row(o.c);
  const auto number = [](const u32* rows_of, u32 index, u32 lane) {
    return as_double(u64{rows_of[(2 * index + 1) * lane_count + lane]} << 32 |
                     rows_of[2 * index * lane_count + lane]);
  };
  for (u32 lane = 0; lane < lane_count; ++lane) {
    const u32 g = lane / 4, t = lane % 4;
    for (u32 chunk = 0; chunk < depth / 4; ++chunk) {
      for (u32 half = 0; half < halves; ++half)
        a[g + 8 * half][t + 4 * chunk] = number(from_a, chunk * halves + half, lane);
      b[t + 4 * chunk][g] = number(from_b, chunk, lane);
    }
    for (u32 element = 0; element < 2 * halves; ++element)
      c[g + 8 * (element / 2)][2 * t + element % 2] = number(from_c, element, lane);
  }
  u32* d = warp.destination(o);
  for (u32 row = 0; row < rows; ++row)
    for (u32 column = 0; column < 8; ++column) {
      double sum = c[row][column];
      for (u32 k = 0; k < depth; ++k)
        sum = std::fma(a[row][k], b[k][column], sum);
      const u32 lane = row % 8 * 4 + column / 2, element = row / 8 * 2 + column % 2;
      const u64 bits = canonical(sum);
      d[2 * element * lane_count + lane] = static_cast<u32>(bits);
      d[(2 * element + 1) * lane_count + lane] = static_cast<u32>(bits >> 32);
    }
}

// ---- products of warp groups

/// The products of a warp group end where they are issued: the program waits for them before it writes their
/// operands or reads their results.
/// This warp has 16 of the 64 rows.
void multiply_by_warp_group(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const bool of_bytes = x.opcode == Opcode::igmma, of_floats = x.opcode == Opcode::qgmma;
  const u32 columns = 8 * u32{x.function}, depth_of_a = x.selector, bytes = 32 / depth_of_a;
  const u32 depth = x.product.is_sparse ? 2 * depth_of_a : depth_of_a;
  const u32 first_row = warp.index % 4 * 16;
  const auto number = [&](u32 bits, bool is_a) -> double {
    if (of_bytes)
      return (is_a ? x.is_signed : x.source_type != 0) ? double(static_cast<std::int8_t>(bits))
                                                       : double(bits);
    const double value = of_floats ? small_float(static_cast<SmallFloat>(is_a ? x.type : x.source_type), bits)
                         : x.type == 2 ? tf32_of(bits)
                                       : element_of(x, bits, 0);
    return (is_a ? x.a : x.b).negated ? -value : value;
  };
  const auto descriptor = [&](const RowPlace& place) {
    const u32* row = warp.row(place);
    return u64{row[lane_count]} << 32 | row[0];
  };
  double a[16][64] = {};
  if (x.a.kind == sass::Source::Kind::uniform) {
    SharedMatrix matrix(warp, warp.block->rank, descriptor(o.a), x.product.transposes_a);
    for (u32 row = 0; row < 16; ++row)
      for (u32 k = 0; k < depth_of_a; ++k)
        a[row][k] = number(matrix.element(first_row + row, k, bytes), true);
    if (matrix.outside)
      return fault(warp, o, *matrix.outside);
  } else {
    const u32* from = warp.row(o.a);
    const u32 per_word = 4 / bytes;
    for (u32 lane = 0; lane < lane_count; ++lane)
      for (u32 word = 0; word < 4; ++word)
        for (u32 which = 0; which < per_word; ++which)
          a[lane / 4 + 8 * (word % 2)][per_word * (lane % 4) + 4 * per_word * (word / 2) + which] =
              number(from[word * lane_count + lane] >> (8 * bytes * which) &
                         (bytes == 4 ? ~0u : (1u << 8 * bytes) - 1),
                     true);
  }
  if (x.product.is_sparse)
    spread(x, warp.row(o.d), bytes == 4 ? 2 : 4, depth, a);
  SharedMatrix matrix(warp, warp.block->rank, descriptor(o.b), x.product.transposes_b);
  const bool adds = warp.predicate_in(o, 0) != 0;
  const bool is_wide = of_bytes || x.float_result;
  const u32* from_c = warp.row(o.c);
  u32* d = warp.destination(o);
  for (u32 column = 0; column < columns; ++column) {
    double b[64];
    for (u32 k = 0; k < depth; ++k)
      b[k] = number(matrix.element(column, k, bytes), false);
    for (u32 row = 0; row < 16; ++row) {
      const u32 lane = row % 8 * 4 + column % 8 / 2;
      const u32 element = column / 8 * 4 + row / 8 * 2 + column % 2; // of the lane's
      const u32 at = (is_wide ? element : element / 2) * lane_count + lane,
                shift = is_wide ? 0 : 16 * (element % 2);
      double sum = !adds      ? 0
                   : of_bytes ? double(static_cast<i32>(from_c[at]))
                   : is_wide  ? double{as_float(from_c[at])}
                              : double{half_to_float(static_cast<std::uint16_t>(from_c[at] >> shift))};
      for (u32 k = 0; k < depth; ++k)
        sum += a[row][k] * b[k];
      if (of_bytes)
        d[at] = static_cast<u32>(x.saturates ? std::clamp(i64(sum), i64{std::numeric_limits<i32>::min()},
                                                          i64{std::numeric_limits<i32>::max()})
                                             : i64(sum));
      else if (is_wide)
        d[at] = canonical(static_cast<float>(sum));
      else
        d[at] = (d[at] & ~(0xffffu << shift)) | u32{double_to_half(sum, Direction::nearest)} << shift;
    }
  }
  if (matrix.outside)
    fault(warp, o, *matrix.outside);
}

} // namespace

bool is_product(Opcode opcode) {
  return opcode >= Opcode::hmma && opcode <= Opcode::qgmma;
}

Handler select_product(Opcode opcode) {
  switch (opcode) {
  case Opcode::hmma: return multiply_halves;
  case Opcode::qmma:
  case Opcode::omma: return multiply_small_floats;
  case Opcode::imma:
  case Opcode::bmma: return multiply_integers;
  case Opcode::dmma: return multiply_doubles;
  case Opcode::hgmma:
  case Opcode::igmma:
  case Opcode::qgmma: return multiply_by_warp_group;
  default: return nullptr;
  }
}

} // namespace warplens::machine
