// A matrix in shared memory that a descriptor describes, as products of warp groups and of tensor memory take
// it.
#pragma once

#include "machine/warp.h"

#include <array>
#include <cstring>
#include <optional>
#include <span>

namespace warplens::machine {

/// A matrix in shared memory, by its descriptor (PTX ISA, "Shared Memory Matrix Layout"; CUTLASS'
/// mma_sm90_desc.hpp has the canonical layouts): groups of 8 rows of 16 to 128 bytes.
class SharedMatrix {
public:
  /// The matrix is in the shared memory of this block of the warp's cluster.
  SharedMatrix(Warp& warp, std::uint32_t block, std::uint64_t descriptor, bool is_transposed)
      : block_(block), start_(std::uint32_t(descriptor & 0x3fff) << 4),
        leading_(std::uint32_t(descriptor >> 16 & 0x3fff) << 4),
        stride_(std::uint32_t(descriptor >> 32 & 0x3fff) << 4), base_(std::uint32_t(descriptor >> 49 & 7)),
        row_bytes_(rows_of_swizzle[descriptor >> 62]), is_transposed_(is_transposed) {
    if (const Block* const of = block_of_shared(warp, std::uint64_t{block} << 24))
      shared_ = {of->shared, of->shared_bytes};
  }

  /// Returns an element of `bytes` bytes: of a row of A or a column of B, at a place in the depth. An address
  /// outside of shared memory is noted.
  std::uint32_t element(std::uint32_t row, std::uint32_t k, std::uint32_t bytes) {
    std::uint32_t value = 0;
    copy(is_transposed_ ? transposed(row * bytes, k) : straight(row, k * bytes), bytes, &value);
    return value;
  }

  /// Returns the 32 bytes of a row of A, or of a column of B, with elements of that many bytes.
  std::array<std::uint32_t, 8> row(std::uint32_t row, std::uint32_t bytes) {
    std::array<std::uint32_t, 8> words{};
    auto* const to = reinterpret_cast<std::byte*>(words.data());
    if (is_transposed_) {
      for (std::uint32_t k = 0; k < sizeof words / bytes; ++k) {
        const std::uint32_t value = element(row, k, bytes);
        std::memcpy(to + k * bytes, &value, bytes);
      }
      return words;
    }
    constexpr std::uint32_t chunk = 16; // which lie together, whatever the swizzle
    for (std::uint32_t first = 0; first < sizeof words; first += chunk)
      copy(straight(row, first), chunk, to + first);
    return words;
  }

  std::optional<std::uint32_t> outside;

private:
  static constexpr std::array<std::uint32_t, 4> rows_of_swizzle{16, 128, 64, 32};

  void copy(std::uint32_t at, std::uint32_t bytes, void* to) {
    const std::uint32_t offset = at & 0x3ffff;
    if (offset + bytes <= shared_.size() && offset % bytes == 0)
      std::memcpy(to, shared_.data() + offset, bytes);
    else
      outside = offset | block_ << 24; // in the window of the cluster
  }

  std::uint32_t straight(std::uint32_t row, std::uint32_t byte) const {
    const std::uint32_t at = row / 8 * stride_ + row % 8 * row_bytes_;
    return row_bytes_ == 16 ? start_ + at + byte / 16 * leading_ + byte % 16 : swizzled(start_ + at + byte);
  }
  std::uint32_t transposed(std::uint32_t byte, std::uint32_t k) const {
    if (row_bytes_ == 16)
      return start_ + byte / 16 * stride_ + byte % 16 + k % 8 * 16 + k / 8 * leading_;
    return swizzled(start_ + byte / row_bytes_ * leading_ + byte % row_bytes_ + k % 8 * row_bytes_ +
                    k / 8 * stride_);
  }
  /// Bits of 16 bytes' number are exchanged by those of 128 bytes' number.
  std::uint32_t swizzled(std::uint32_t address) const {
    const std::uint32_t phase = (address >> 7) - base_;
    return address ^ (phase & (row_bytes_ / 16 - 1)) << 4;
  }

  std::span<const std::byte> shared_; ///< of the block; empty if the cluster has no such one
  std::uint32_t block_, start_, leading_, stride_, base_, row_bytes_;
  bool is_transposed_;
};

} // namespace warplens::machine
