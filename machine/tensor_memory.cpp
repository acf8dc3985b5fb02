// The fifth generation of tensor cores: products whose sums are in tensor memory, and what moves data there
// and back (PTX ISA, "TensorCore 5th Generation Instructions"). Each is complete when it is issued: a program
// that waits for too little may be right here all the same.
#include "machine/tensor_memory.h"

#include "machine/integers.h"
#include "machine/numbers.h"
#include "machine/shared_matrix.h"
#include "machine/small_floats.h"
#include "machine/vector_products.h"
#include "machine/warp.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace warplens::machine {
namespace {

using sass::Opcode;
using sass::Operands;

constexpr u32 lane_of(u32 address) {
  return address >> 16;
}
constexpr u32 column_of(u32 address) {
  return address & 0xffff;
}
u64 pair_at(const u32* row) {
  return u64{row[lane_count]} << 32 | row[0];
}

void outside_of_tensor_memory(Warp& warp, u32 lane, u32 column) {
  warp.stop(Outcome::Kind::fault,
            fmt::format("access to tensor memory that is not allocated: lane {}, column {}", lane, column),
            lane << 16 | column);
}
void refuse(Warp& warp, std::string what) {
  warp.stop(Outcome::Kind::refused, std::move(what));
}

/// Returns a cell's address; a missing one ends the warp.
u32* cell(Warp& warp, Block& block, u32 lane, u32 column) {
  u32* const found = block.tensor_memory.at(lane, column);
  if (!found)
    outside_of_tensor_memory(warp, lane, column);
  return found;
}

/// Returns the other block of the pair that a product of two blocks is of; null if there is none.
Block* peer_of(Warp& warp) {
  const u32 peer = warp.block->rank ^ 1;
  return peer < warp.block->cluster.size() ? &warp.block->cluster[peer] : nullptr;
}

// ---- allocation

/// UTCATOMSWS: the SM's own mask of granules of 32 columns that are taken. The program keeps in shared memory
/// which of them are the block's.
void allocate(Warp& warp, const Operation& o, Mask) {
  TensorMemory& memory = warp.block->tensor_memory;
  const u32 value = warp.row(o.b)[0];
  if (!o.operands->has_return)
    return memory.keep(value);
  // One block of a pair allocates for both; the program hands the address to the other one.
  Block* const peer = o.operands->of_two_blocks ? peer_of(warp) : nullptr;
  const int first = memory.allocate(value, peer ? &peer->tensor_memory : nullptr);
  std::fill_n(warp.destination(o), lane_count, static_cast<u32>(first));
  warp.set_predicate(o.out[0], first >= 0 ? all_lanes : 0, all_lanes);
}

// ---- loads and stores by a warp

/// Calls `each(word, lane, row, column)` for the words of the lanes' registers, with their cells' places from
/// the address on.
template <class Each> void for_each_word(const Operands& x, u32 words, Each each) {
  using Shape = sass::TensorMemoryShape;
  for (u32 word = 0; word < words; ++word)
    for (u32 lane = 0; lane < lane_count; ++lane) {
      const u32 g = lane / 4, t = lane % 4;
      switch (static_cast<Shape>(x.function)) {
      case Shape::rows32_words1: each(word, lane, lane, word); break;
      case Shape::rows16_words2: each(word, lane, g + lane / 2 % 2 * 8, 2 * word + lane % 2); break;
      case Shape::rows16_words4: each(word, lane, g + word % 2 * 8, word / 2 * 4 + t); break;
      case Shape::rows16_words8:
        each(word, lane, g + word / 2 % 2 * 8, word / 4 * 8 + 2 * t + word % 2);
        break;
      case Shape::low_lanes:
        if (lane < 16)
          each(word, lane, lane, word);
        break;
      case Shape::high_lanes:
        if (lane >= 16)
          each(word, lane, lane - 16, word);
        break;
      }
    }
}

/// Returns the first lane of the address; one outside of the warp's quarter ends the warp.
std::optional<u32> first_lane_of_access(Warp& warp, const Operands& x, u32 address) {
  const bool is_whole =
      static_cast<sass::TensorMemoryShape>(x.function) == sass::TensorMemoryShape::rows32_words1;
  const u32 lane = lane_of(address), quarter = warp.index % 4;
  if (lane / 32 != quarter || lane % (is_whole ? 32 : 16) != 0) {
    warp.stop(Outcome::Kind::fault,
              fmt::format("warp {} accesses tensor memory from lane {} on: its own lanes are {} to {}",
                          warp.index, lane, 32 * quarter, 32 * quarter + 31),
              address);
    return std::nullopt;
  }
  return lane;
}

void load_tensor_memory(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 address = warp.row(o.a)[0] + static_cast<u32>(o.offset);
  const auto first = first_lane_of_access(warp, x, address);
  if (!first)
    return;
  u32* const d = warp.destination(o);
  for_each_word(x, x.destination_words, [&](u32 word, u32 lane, u32 row, u32 column) {
    if (x.high) { // packs two columns' halves
      const u32* const low = cell(warp, *warp.block, *first + row, column_of(address) + 2 * column);
      const u32* const high = cell(warp, *warp.block, *first + row, column_of(address) + 2 * column + 1);
      if (low && high)
        d[word * lane_count + lane] = (*low & 0xffff) | *high << 16;
    } else if (const u32* const from = cell(warp, *warp.block, *first + row, column_of(address) + column))
      d[word * lane_count + lane] = *from;
  });
}

void store_tensor_memory(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 address = warp.row(o.a)[0] + static_cast<u32>(o.offset);
  const auto first = first_lane_of_access(warp, x, address);
  if (!first)
    return;
  const u32* const b = warp.row(o.b);
  for_each_word(x, x.b.words, [&](u32 word, u32 lane, u32 row, u32 column) {
    const u32 value = b[word * lane_count + lane];
    if (x.high) {
      u32* const low = cell(warp, *warp.block, *first + row, column_of(address) + 2 * column);
      u32* const high = cell(warp, *warp.block, *first + row, column_of(address) + 2 * column + 1);
      if (low && high)
        *low = value & 0xffff, *high = value >> 16;
    } else if (u32* const to = cell(warp, *warp.block, *first + row, column_of(address) + column))
      *to = value;
  });
}

/// Returns four of 16 packed elements as bytes: those of 4 bits have two zeros below.
u32 widened(const std::array<std::byte, 16>& sixteen, u32 bits, u32 first) {
  u32 bytes = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 at = bits * (first + i);
    const u32 two = std::to_integer<u32>(sixteen[at / 8]) | std::to_integer<u32>(sixteen[at / 8 + 1]) << 8;
    const u32 element = two >> at % 8 & ((1u << bits) - 1);
    bytes |= (bits == 4 ? element << 2 : element) << 8 * i;
  }
  return bytes;
}

/// UTCCP: rows of 16 or 32 bytes from shared memory, of each block of the pair to its own tensor memory.
void copy_to_tensor_memory(Warp& warp, const Operation& o, Mask) {
  const Operands& x = *o.operands;
  const u32 address = warp.row(o.a)[0] + static_cast<u32>(o.offset);
  Block* const blocks[] = {warp.block, x.of_two_blocks ? peer_of(warp) : nullptr};
  const auto shape = static_cast<sass::TensorCopyShape>(x.function);
  using Shape = sass::TensorCopyShape;
  const u32 words = shape == Shape::rows128_bytes32 ? 8 : 4;
  for (Block* const block : blocks) {
    if (!block)
      continue;
    SharedMatrix matrix(warp, block->rank, pair_at(warp.row(o.b)), false);
    for (u32 lane = 0; lane < TensorMemory::lanes; ++lane) {
      const u32 warp_of_lane = lane / 32;
      const u32 row = shape == Shape::rows64_of_pairs_02_13   ? warp_of_lane % 2 * 32 + lane % 32
                      : shape == Shape::rows64_of_pairs_01_23 ? warp_of_lane / 2 * 32 + lane % 32
                      : shape == Shape::rows32                ? lane % 32
                                                              : lane;
      for (u32 word = 0; word < words; ++word) {
        u32* const to = cell(warp, *block, lane_of(address) + lane, column_of(address) + word);
        if (!to)
          return;
        *to = x.type == 0 ? matrix.element(row, word, 4)
                          : widened(matrix.sixteen(row, 4 * word), x.type == 1 ? 4 : 6, 4 * (word % 4));
      }
    }
    if (matrix.outside)
      return fault(warp, o, *matrix.outside);
  }
}

// ---- products

/// The instruction descriptor (PTX ISA, "Instruction descriptor"). With scales of blocks the sums are floats,
/// and the place of their type, among others, has which bytes of the scales' columns count.
struct ProductShape {
  ProductShape(u32 bits, bool is_scaled)
      : is_sparse((bits & 4) != 0), saturates(!is_scaled && (bits & 8) != 0),
        result(is_scaled ? 1 : bits >> 4 & 3), scale_of_b(bits >> 4 & 3), scale_of_a(bits >> 29 & 3),
        scales_are_powers((bits >> 23 & 1) != 0), type_of_a(bits >> 7 & 7), type_of_b(bits >> 10 & 7),
        negates_a((bits >> 13 & 1) != 0), negates_b((bits >> 14 & 1) != 0),
        transposes_a((bits >> 15 & 1) != 0), transposes_b((bits >> 16 & 1) != 0),
        columns(8 * (bits >> 17 & 63)), rows(16 * (bits >> 24 & 31)) {}
  bool is_sparse, saturates;
  u32 result;                 ///< 0 halves, 1 floats, 2 integers
  u32 scale_of_b, scale_of_a; ///< the first byte of a column
  bool scales_are_powers;     ///< of two: else they are e4m3 without a sign
  u32 type_of_a, type_of_b;
  bool negates_a, negates_b, transposes_a, transposes_b;
  u32 columns, rows;
};

/// A product of tensor memory while it is computed; `add`: what adds the products, null for the slow way.
class Product {
public:
  Product(Warp& warp, const Operation& operation, AddProducts add)
      : warp_(warp), o_(operation), x_(*operation.operands),
        shape_(warp.row(operation.c)[lane_count], x_.product.is_scaled),
        kind_(static_cast<sass::TensorKind>(x_.type)), bits_(kind_ == sass::TensorKind::nibbles  ? 4
                                                             : kind_ != sass::TensorKind::halves ? 8
                                                             : shape_.type_of_a == tf32          ? 32
                                                                                                 : 16),
        depth_(256 / bits_), add_(add) {}

  void run() {
    if (const std::string what = refusal(); !what.empty())
      return refuse(warp_, what);
    blocks_[0] = warp_.block;
    if (x_.of_two_blocks) {
      // The pair's block of even rank has the first rows of A and D, and the first columns of B.
      Block* const peer = peer_of(warp_);
      if (!peer)
        return refuse(warp_, "a product of two blocks in a launch without clusters");
      blocks_[0] = warp_.block->rank % 2 == 0 ? warp_.block : peer;
      blocks_[1] = warp_.block->rank % 2 == 0 ? peer : warp_.block;
    }
    count_ = x_.of_two_blocks ? 2 : 1;
    if (!read_b())
      return;
    for (u32 which = 0; which < count_ && !warp_.is_stopped; ++which)
      multiply(which);
  }

  TensorProduct shape() const {
    return {.rows = shape_.rows,
            .columns = shape_.columns,
            .depth = depth_,
            .bits = bits_,
            .is_float = kind_ != sass::TensorKind::integers,
            .sums_singles = shape_.result == 1,
            .reads_shared_a = x_.a.words == 2,
            .of_two_blocks = x_.of_two_blocks};
  }

private:
  static constexpr u32 tf32 = 2;

  std::string refusal() const {
    if (shape_.is_sparse)
      return "tcgen05.mma.sp: a sparse product of tensor memory";
    const u32 types = std::max(shape_.type_of_a, shape_.type_of_b);
    if (kind_ == sass::TensorKind::nibbles && (shape_.transposes_a || shape_.transposes_b))
      return "tcgen05.mma of 4-bit floats that are transposed";
    const u32 greatest[] = {2, 1, 0, 5, 1}; // by kind
    if (types > greatest[x_.type] ||
        (kind_ == sass::TensorKind::small_floats && (shape_.type_of_a == 2 || shape_.type_of_b == 2)) ||
        (kind_ == sass::TensorKind::halves && (shape_.type_of_a == tf32) != (shape_.type_of_b == tf32)))
      return "tcgen05.mma of types that its descriptor does not name";
    const u32 rows_of_block = shape_.rows / (x_.of_two_blocks ? 2 : 1);
    if ((rows_of_block != 64 && rows_of_block != 128) || shape_.columns == 0 || shape_.columns > 256)
      return fmt::format("tcgen05.mma of {} rows and {} columns", shape_.rows, shape_.columns);
    for (const u64 descriptor : {x_.a.words == 2 ? pair_at(warp_.row(o_.a)) : 0, pair_at(warp_.row(o_.b))})
      if ((descriptor >> 61 & 1) != 0)
        return "tcgen05.mma with a swizzle of 128 bytes in units of 32";
    return {};
  }

  double number(u32 bits, bool is_a) const {
    const u32 type = is_a ? shape_.type_of_a : shape_.type_of_b;
    switch (kind_) {
    case sass::TensorKind::integers:
      return type == 1 ? double(static_cast<std::int8_t>(bits)) : double(bits & 0xff);
    case sass::TensorKind::small_floats:
    case sass::TensorKind::nibbles:
    case sass::TensorKind::halves: break;
    }
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = kind_ == sass::TensorKind::small_floats || kind_ == sass::TensorKind::nibbles
                             ? small_float(small_kind(is_a), bits & 0xff)
                         : type == tf32 ? double{as_float(bits & 0xffffe000)}
                         : type == 1    ? double{bfloat_to_float(half)}
                                        : double{half_to_float(half)};
    return (is_a ? shape_.negates_a : shape_.negates_b) ? -value : value;
  }

  sass::SmallFloat small_kind(bool is_a) const {
    using sass::SmallFloat;
    if (kind_ == sass::TensorKind::nibbles)
      return SmallFloat::e2m1;
    switch (is_a ? shape_.type_of_a : shape_.type_of_b) {
    case 0: return SmallFloat::e4m3;
    case 1: return SmallFloat::e5m2;
    case 3: return SmallFloat::e2m3;
    case 4: return SmallFloat::e3m2;
    default: return SmallFloat::e2m1;
    }
  }
  /// Returns the bits of an element in shared memory whose 16 bytes hold fewer; 0 for whole bytes.
  u32 packed_bits(bool is_a) const {
    if (kind_ != sass::TensorKind::small_floats)
      return 0;
    const u32 type = is_a ? shape_.type_of_a : shape_.type_of_b;
    return type < 3 ? 0 : type == 5 ? 4 : 6;
  }
  /// Reads an element of A, or of B by its column.
  double element(SharedMatrix& matrix, u32 row, u32 k, bool is_a) const {
    if (const u32 bits = packed_bits(is_a)) {
      const auto bytes = matrix.sixteen(row, k);
      const u32 first = bits * ((matrix.is_transposed() ? row : k) % 16);
      const u32 two = std::to_integer<u32>(bytes[first / 8]) | std::to_integer<u32>(bytes[first / 8 + 1])
                                                                   << 8;
      return number(two >> first % 8 & ((1u << bits) - 1), is_a);
    }
    if (bits_ == 4)
      return number(matrix.element(row, k / 2, 1) >> 4 * (k % 2) & 15, is_a);
    return number(matrix.element(row, k, bits_ / 8), is_a);
  }

  /// Multiplies a row of A, or a column of B, by its scales: row r's are in lane r % 32 and column r / 32
  /// from the address on (PTX ISA, "Scale Factor A Layout").
  bool scale(Block& block, u32 row, bool is_a, double* numbers) {
    if (!x_.product.is_scaled)
      return true;
    const u32 address = warp_.row(o_.e)[is_a ? 0 : lane_count];
    const u32* const from = cell(warp_, block, lane_of(address) + row % 32, column_of(address) + row / 32);
    if (!from)
      return false;
    const u32 per_scale = depth_ / x_.product.scales_per_row,
              first = is_a ? shape_.scale_of_a : shape_.scale_of_b;
    for (u32 k = 0; k < depth_; ++k) {
      const u32 bits = *from >> 8 * ((first + k / per_scale) % 4) & 0xff;
      numbers[k] *=
          shape_.scales_are_powers ? power_of_two(bits) : small_float(sass::SmallFloat::e4m3, bits & 0x7f);
    }
    return true;
  }

  /// Reads B: of two blocks, each has a half of its columns.
  bool read_b() {
    b_.resize(std::size_t{shape_.columns} * depth_);
    const u32 columns = shape_.columns / count_;
    for (u32 which = 0; which < count_; ++which) {
      SharedMatrix matrix(warp_, blocks_[which]->rank, pair_at(warp_.row(o_.b)), shape_.transposes_b);
      for (u32 column = 0; column < columns; ++column) {
        double* const to = &b_[(which * columns + column) * depth_];
        if (add_ != nullptr)
          read_row(matrix, column, false, to);
        else
          for (u32 k = 0; k < depth_; ++k)
            to[k] = element(matrix, column, k, false);
        // Each block of a pair has the scales of all columns.
        if (!scale(*blocks_[0], which * columns + column, false, to))
          return false;
      }
      if (matrix.outside) {
        fault(warp_, o_, *matrix.outside);
        return false;
      }
    }
    return true;
  }

  /// Reads a whole row of A, or column of B, from shared memory.
  void read_row(SharedMatrix& matrix, u32 row, bool is_a, double* to) {
    if (packed_bits(is_a) != 0) {
      for (u32 k = 0; k < depth_; ++k)
        to[k] = element(matrix, row, k, is_a);
      return;
    }
    const auto words = matrix.row(row, std::max(bits_ / 8, 1u));
    const u32 per_word = 32 / bits_, mask = bits_ == 4 ? 15 : ~0u;
    for (u32 k = 0; k < depth_; ++k)
      to[k] = number(words[k / per_word] >> bits_ * (k % per_word) & mask, is_a);
  }

  /// Returns the lane of a row of a block, where its first column is; `half`: that of the columns.
  u32 lane_of_row(u32 row, u32 half) const {
    const u32 rows_of_block = shape_.rows / count_;
    if (rows_of_block == 128)
      return row;
    if (count_ == 2)
      return row + 64 * half; // the second half of the columns has lanes of its own
    return row / 16 * 32 + row % 16;
  }

  /// Returns an element of A in tensor memory, packed as registers are.
  std::optional<double> element_of_tensor_memory(Block& block, u32 address, u32 row, u32 k) {
    const u32 per_word = 32 / bits_;
    const u32* const from =
        cell(warp_, block, lane_of(address) + lane_of_row(row, 0), column_of(address) + k / per_word);
    if (!from)
      return std::nullopt;
    const u32 bits = *from >> bits_ * (k % per_word);
    return number(packed_bits(true) == 4   ? bits >> 2 & 15
                  : packed_bits(true) == 6 ? bits & 63
                  : bits_ == 4             ? bits & 15
                                           : bits,
                  true);
  }

  void multiply(u32 which) {
    Block& block = *blocks_[which];
    const u32 rows = shape_.rows / count_;
    const bool in_shared_memory = x_.a.words == 2;
    SharedMatrix matrix(warp_, block.rank, in_shared_memory ? pair_at(warp_.row(o_.a)) : 0,
                        shape_.transposes_a);
    std::vector<double> a(depth_);
    const bool adds_in_groups =
        add_ != nullptr && (count_ == 1 || shape_.columns % (2 * columns_at_once) == 0);
    if (adds_in_groups)
      arrange_b();
    for (u32 row = 0; row < rows; ++row) {
      if (add_ != nullptr && in_shared_memory)
        read_row(matrix, row, true, a.data());
      for (u32 k = 0; k < depth_ && (add_ == nullptr || !in_shared_memory); ++k) {
        if (in_shared_memory) {
          a[k] = element(matrix, row, k, true);
          continue;
        }
        const auto element = element_of_tensor_memory(block, warp_.row(o_.a)[0], row, k);
        if (!element)
          return;
        a[k] = *element;
      }
      if (matrix.outside)
        return fault(warp_, o_, *matrix.outside);
      if (!scale(block, row, true, a.data()))
        return;
      if (adds_in_groups ? !add_row(which, row, a.data()) : !multiply_row(which, row, a))
        return;
    }
  }

  bool multiply_row(u32 which, u32 row, const std::vector<double>& a) {
    Block& block = *blocks_[which];
    const u32 address = warp_.row(o_.d)[0];
    const bool splits_columns = count_ == 2 && shape_.rows == 128;
    const u32 columns_of_half = splits_columns ? shape_.columns / 2 : shape_.columns;
    const bool adds = warp_.predicate_in(o_, 0) != 0;
    for (u32 column = 0; column < shape_.columns; ++column) {
      const u32 lane = lane_of_row(row, column / columns_of_half);
      if (is_masked(which, lane))
        continue;
      u32* const to =
          cell(warp_, block, lane_of(address) + lane, column_of(address) + column % columns_of_half);
      if (!to)
        return false;
      const double* const b = &b_[std::size_t{column} * depth_];
      double sum = adds ? sum_of(*to) : 0;
      for (u32 k = 0; k < depth_; ++k)
        sum += a[k] * b[k];
      *to = bits_of(sum);
    }
    return true;
  }

  /// Arranges B in groups of columns that are added to at once.
  void arrange_b() {
    const u32 groups = (shape_.columns + columns_at_once - 1) / columns_at_once;
    arranged_b_.assign(std::size_t{groups} * depth_ * columns_at_once, 0);
    for (u32 column = 0; column < shape_.columns; ++column)
      for (u32 k = 0; k < depth_; ++k)
        arranged_b_[(column / columns_at_once * depth_ + k) * columns_at_once + column % columns_at_once] =
            b_[std::size_t{column} * depth_ + k];
  }

  /// As multiply_row(), in groups of columns, none of which lies in both halves.
  bool add_row(u32 which, u32 row, const double* a) {
    Block& block = *blocks_[which];
    const u32 address = warp_.row(o_.d)[0];
    const bool splits_columns = count_ == 2 && shape_.rows == 128;
    const u32 columns_of_half = splits_columns ? shape_.columns / 2 : shape_.columns;
    const bool adds = warp_.predicate_in(o_, 0) != 0;
    for (u32 first = 0; first < shape_.columns; first += columns_at_once) {
      const u32 count = std::min(columns_at_once, shape_.columns - first);
      const u32 lane = lane_of_row(row, first / columns_of_half);
      if (is_masked(which, lane))
        continue;
      const u32 column = column_of(address) + first % columns_of_half;
      u32* const cells = cell(warp_, block, lane_of(address) + lane, column);
      if (!cells || !cell(warp_, block, lane_of(address) + lane, column + count - 1))
        return false;
      double sums[columns_at_once] = {};
      for (u32 i = 0; adds && i < count; ++i)
        sums[i] = sum_of(cells[i]);
      add_(sums, a,
           reinterpret_cast<const double(*)[columns_at_once]>(&arranged_b_[std::size_t{first} * depth_]),
           depth_);
      for (u32 i = 0; i < count; ++i)
        cells[i] = bits_of(sums[i]);
    }
    return true;
  }

  /// Returns whether the program's mask keeps this lane of the sums as it is.
  bool is_masked(u32 which, u32 lane) const {
    return !x_.product.is_scaled && x_.e.kind == sass::Source::Kind::uniform &&
           (warp_.row(o_.e)[(4 * which + lane / 32) * lane_count] >> lane % 32 & 1) != 0;
  }

  double sum_of(u32 bits) const {
    if (kind_ == sass::TensorKind::integers)
      return static_cast<i32>(bits);
    const double sum =
        shape_.result == 0 ? double{half_to_float(static_cast<std::uint16_t>(bits))} : double{as_float(bits)};
    return x_.shift == 0 ? sum : std::ldexp(sum, -int{x_.shift});
  }
  u32 bits_of(double sum) const {
    if (kind_ == sass::TensorKind::integers)
      return static_cast<u32>(shape_.saturates ? std::clamp<i64>(i64(sum), std::numeric_limits<i32>::min(),
                                                                 std::numeric_limits<i32>::max())
                                               : i64(sum));
    return shape_.result == 0 ? u32{double_to_half(sum, Direction::nearest)}
                              : canonical(static_cast<float>(sum));
  }

  Warp& warp_;
  const Operation& o_;
  const Operands& x_;
  ProductShape shape_;
  sass::TensorKind kind_;
  u32 bits_, depth_; ///< of an element; elements of an instruction's depth
  Block* blocks_[2] = {nullptr, nullptr};
  u32 count_ = 1;
  AddProducts add_;
  std::vector<double> b_; ///< by column
  std::vector<double> arranged_b_;
};

void multiply(Warp& warp, const Operation& o, AddProducts add) {
  Product product(warp, o, add);
  product.run();
  if (Sink* const sink = warp.block->launch->sink; sink && !warp.is_stopped)
    sink->on_product({warp.block->index, warp.index}, warp.pc, product.shape());
}

void multiply_slowly(Warp& warp, const Operation& o, Mask) {
  multiply(warp, o, nullptr);
}
template <AddProducts add> void multiply_by(Warp& warp, const Operation& o, Mask) {
  multiply(warp, o, add);
}

/// UTCBAR: all that was issued is complete, so that the barrier gets its arrival at once; with a mask that of
/// each of these blocks.
void commit(Warp& warp, const Operation& o, Mask) {
  const u32 address = warp.row(o.a)[0];
  if (Sink* const sink = warp.block->launch->sink) {
    Arrival arrival{.instruction = warp.pc, .lanes = 1, .waits = false};
    put_phases(warp, address, o.operands->wraps, warp.row(o.c)[0] & 0xffff, arrival.phase,
               arrival.further_phases);
    sink->on_barrier({warp.block->index, warp.index}, arrival);
  }
  if (!o.operands->wraps)
    return arrive_at(warp, o, address);
  for (u32 blocks = warp.row(o.c)[0] & 0xffff; blocks != 0 && !warp.is_stopped; blocks &= blocks - 1)
    arrive_at(warp, o, (address & 0xffffff) | first_lane(blocks) << 24);
}

} // namespace

Handler select_tensor_memory_product(AddProducts add) {
#ifdef WARPLENS_MACHINE_X86_64_V3
  if (add == x86_64_v3::add_products)
    return multiply_by<x86_64_v3::add_products>;
#endif
  return add == portable::add_products ? multiply_by<portable::add_products> : multiply_slowly;
}

Handler select_tensor_memory_operation(Opcode opcode) {
  switch (opcode) {
  case Opcode::utcatomsws: return allocate;
  case Opcode::ldtm: return load_tensor_memory;
  case Opcode::sttm: return store_tensor_memory;
  case Opcode::utccp: return copy_to_tensor_memory;
  case Opcode::utcmma: return multiply_slowly;
  case Opcode::utcbar: return commit;
  default: return nullptr;
  }
}

} // namespace warplens::machine
