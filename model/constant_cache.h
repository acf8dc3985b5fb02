// A cache for constant memory, which nothing writes: an SM's own, or the one behind it that a group of SMs
// shares.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"

#include <algorithm>
#include <bit>

namespace warplens::model {

class ConstantCache {
public:
  /// LRU, sets by the line's number; `bytes_of_line` a power of two from 32 on, `bytes` a multiple of `ways`
  /// lines, and of `ways` × 128.
  ConstantCache(std::uint32_t bytes, std::uint32_t bytes_of_line, std::uint32_t ways)
      : sectors_(std::min(bytes_of_line / sector_bytes, sectors_per_line)),
        shift_(unsigned(std::countr_zero(std::max(bytes_of_line, line_bytes) / line_bytes))),
        // Where several of its lines make up one of 128 bytes, each is in a part of its own, as an even
        // number of sets has it.
        lines_(bytes / std::max(bytes_of_line, line_bytes) / ways, ways, IndexHash::modulo,
               sectors_per_line / sectors_) {}

  /// The sectors of a line of 128 bytes that lie in one of the cache's lines: all four where those are
  /// larger.
  unsigned sectors_at_once() const { return sectors_; }

  /// Is the cache's line there that has this sector of a line of 128 bytes? From now on it is.
  bool load(std::uint32_t line, unsigned sector) const {
    return lines_.with_lines([&](auto& lines) {
      return lines
          .template access<PlainInstructions>(sector / sectors_, line >> shift_,
                                              [](LineState state) { return state; })
          .hit;
    });
  }

  /// Calls `work(line)` with each line of 128 bytes of which the cache's line consists that has this one.
  template <class Work> void each_line_with(std::uint32_t line, Work&& work) const {
    const std::uint32_t first = line >> shift_ << shift_;
    for (std::uint32_t i = 0; i < lines_at_once(); ++i)
      work(first + i);
  }
  std::size_t lines_at_once() const { return std::size_t{1} << shift_; } ///< of 128 bytes

private:
  unsigned sectors_; ///< of a line of 128 bytes in one of the cache's
  unsigned shift_;   ///< lines of 128 bytes in one of the cache's, as a power of two
  Cache lines_;
};

} // namespace warplens::model
