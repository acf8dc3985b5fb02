// Bits of a 128-bit instruction.
#pragma once

#include <cstdint>

namespace warplens::sass {

/// An instruction as the GPU reads it: bit 0 is the lowest of `low`, bit 64 the lowest of `high`.
struct Word {
  std::uint64_t low = 0, high = 0;

  /// Returns `count` (at most 32) bits from bit `first` on.
  constexpr std::uint32_t bits(unsigned first, unsigned count) const {
    const std::uint64_t from = first >= 64  ? high >> (first - 64)
                               : first == 0 ? low
                                            : low >> first | high << (64 - first);
    return static_cast<std::uint32_t>(from & ((std::uint64_t{1} << count) - 1));
  }
  constexpr bool bit(unsigned index) const { return bits(index, 1) != 0; }
};

} // namespace warplens::sass
