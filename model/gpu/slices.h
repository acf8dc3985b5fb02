// The mapping of lines to partitions and slices of the L2.
#pragma once

#include "model/gpu/gpu.h"
#include "numeric/divisor.h"

#include <algorithm>
#include <array>
#include <bit>

namespace warplens::model {

/// Mixes a number's bits: a finisher of hash functions, so that what it chooses is independent of the low
/// bits that choose sets and slices.
inline std::uint32_t mixed(std::uint32_t bits) {
  bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
  bits = (bits ^ bits >> 12) * 0x297a2d39u;
  return bits ^ bits >> 15;
}

/// Returns the partition of the L2 to whose side of memory a line belongs. GPUs choose it by a hash of the
/// address; here one of each pair of lines belongs to either of two, a hash says which.
inline unsigned home_partition(std::uint32_t line, std::uint32_t partitions) {
  return (mixed(line >> 1) ^ line) & (partitions - 1);
}

class Slices {
public:
  explicit Slices(const Gpu& gpu)
      : hash_(gpu.l2.slice_index), bits_(unsigned(std::countr_zero(gpu.l2.slices))),
        odd_(gpu.l2.slices >> bits_) {
    for (unsigned byte = 0; byte < low_.size(); ++byte)
      for (std::uint32_t value = 0; value < low_[byte].size(); ++value)
        low_[byte][value] = std::uint16_t(low(value << 8 * byte));
  }

  std::uint32_t of(std::uint32_t line) const {
    // The high bits of the line's number choose among the odd factor of the number of slices: in turn, and
    // with a hash from another one on after each turn.
    const std::uint32_t high = line >> bits_;
    const std::uint32_t turn = odd_.quotient_in_loop(high);
    const std::uint32_t first = hash_ == SliceHash::modulo ? 0 : odd_.remainder(mixed(turn));
    std::uint32_t chosen = high - turn * odd_.value() + first;
    chosen = std::min(chosen, chosen - odd_.value()); // which wraps around below 0
    return chosen << bits_ |
           (low_[0][line & 255] ^ low_[1][line >> 8 & 255] ^ low_[2][line >> 16 & 255] ^ low_[3][line >> 24]);
  }

private:
  /// Returns the slice's low bits, in [0, 2^bits_).
  std::uint32_t low(std::uint32_t line) const {
    const std::uint32_t mask = (1u << bits_) - 1;
    if (bits_ == 0 || hash_ == SliceHash::modulo)
      return line & mask;
    std::uint32_t folded = line & mask;
    if (hash_ == SliceHash::xor_fold) {
      while ((line >>= bits_) != 0)
        folded ^= line & mask;
      return folded;
    }
    // Horner's scheme over GF(2), the highest bit first.
    folded = 0;
    for (unsigned bit = 32; bit-- > 0;) {
      folded = folded << 1 | (line >> bit & 1);
      if (folded >> bits_ != 0)
        folded ^= primitive[bits_];
    }
    return folded;
  }

  /// Primitive polynomials of each degree, one bit for each coefficient (Peterson and Weldon,
  /// "Error-Correcting Codes", appendix C).
  static constexpr std::uint32_t primitive[] = {0,           0b11,         0b111,        0b1011,
                                                0b10011,     0b100101,     0b1000011,    0b10000011,
                                                0b100011101, 0b1000010001, 0b10000001001};

  SliceHash hash_;
  unsigned bits_; ///< the number of slices is odd_ × 2^bits_
  Divisor odd_;
  /// The share that a byte of a line's number has in low(), by its place and its value: each hash is linear
  /// over GF(2).
  std::array<std::array<std::uint16_t, 256>, 4> low_;
};

} // namespace warplens::model
