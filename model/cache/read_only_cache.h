// A cache for data that nothing writes: constant memory, in an SM or a group of SMs, or read-only loads.
#pragma once

#include "model/cache/cache.h"
#include "model/cache/lookups.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <bit>

namespace warplens::model {

class ReadOnlyCache {
public:
  /// The cache is LRU and its set index is the line's number modulo the sets. `bytes_of_line` must be a power
  /// of two from 32 on, `bytes` a multiple of `ways` lines and of `ways` × 128.
  ReadOnlyCache(std::uint32_t bytes, std::uint32_t bytes_of_line, std::uint32_t ways)
      : sectors_(std::min(bytes_of_line / sector_bytes, sectors_per_line)),
        shift_(unsigned(std::countr_zero(std::max(bytes_of_line, line_bytes) / line_bytes))),
        // If several of its lines make up one of 128 bytes, each lies in a part of its own, as with an
        // even number of sets.
        lines_(bytes / std::max(bytes_of_line, line_bytes) / ways, ways, IndexHash::modulo,
               sectors_per_line / sectors_) {}

  /// Looks up the cache's lines that hold some of the sectors of a line of 128 bytes, and brings in those
  /// that miss. Calls `on_miss(sectors)` for each of these, with the sectors of the line of 128 bytes that it
  /// holds.
  template <class OnMiss> Lookups load(std::uint32_t line, unsigned sectors, OnMiss&& on_miss) const {
    const unsigned line_mask = (1u << sectors_) - 1;
    Lookups lookups;
    for (unsigned at = 0; at < sectors_per_line; at += sectors_) {
      if ((sectors >> at & line_mask) == 0)
        continue;
      const bool hit = lines_.with_lines([&](auto& lines) {
        return lines.template access<PlainInstructions>(at / sectors_, line >> shift_,
                                                        [](LineState state) { return state; });
      });
      lookups += {hit, 1};
      if (!hit)
        on_miss(line_mask << at);
    }
    return lookups;
  }
  /// Returns the maximum number of misses of loads of this number of lines of 128 bytes.
  static std::size_t max_misses(std::size_t lines) { return sectors_per_line * lines; }

  /// Calls `work(line)` with each line of 128 bytes that lies in the same line of the cache as this one.
  template <class Work> void each_line_with(std::uint32_t line, Work&& work) const {
    const std::uint32_t first = line >> shift_ << shift_;
    for (std::uint32_t i = 0; i < lines_at_once(); ++i)
      work(first + i);
  }
  std::size_t lines_at_once() const { return std::size_t{1} << shift_; } ///< of 128 bytes

private:
  unsigned sectors_; ///< in one of the cache's lines, at most those of a line of 128 bytes
  unsigned shift_;   ///< lines of 128 bytes in one of the cache's, as a power of two
  Cache lines_;
};

} // namespace warplens::model
