// A cache for what nothing writes: constant memory, an SM's or a group's, or what a kernel loads as
// read-only.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"
#include "model/trial_observer.h"

#include <algorithm>
#include <bit>

namespace warplens::model {

class ReadOnlyCache {
public:
  /// LRU, sets by the line's number; `bytes_of_line` a power of two from 32 on, `bytes` a multiple of `ways`
  /// lines, and of `ways` × 128.
  ReadOnlyCache(std::uint32_t bytes, std::uint32_t bytes_of_line, std::uint32_t ways)
      : sectors_(std::min(bytes_of_line / sector_bytes, sectors_per_line)),
        shift_(unsigned(std::countr_zero(std::max(bytes_of_line, line_bytes) / line_bytes))),
        // Where several of its lines make up one of 128 bytes, each is in a part of its own, as an even
        // number of sets has it.
        lines_(bytes / std::max(bytes_of_line, line_bytes) / ways, ways, IndexHash::modulo,
               sectors_per_line / sectors_) {}

  /// Looks up its lines that have some of the sectors of a line of 128 bytes; they are there from now on.
  /// Calls `ask(sectors)` for each that was not, with the sectors of the line of 128 bytes that it has.
  template <class Ask> Lookups load(std::uint32_t line, unsigned sectors, Ask&& ask) const {
    const unsigned of_one = (1u << sectors_) - 1;
    Lookups lookups;
    for (unsigned at = 0; at < sectors_per_line; at += sectors_) {
      if ((sectors >> at & of_one) == 0)
        continue;
      const bool hit = lines_.with_lines([&](auto& lines) {
        return lines.template access<PlainInstructions>(at / sectors_, line >> shift_,
                                                        [](LineState state) { return state; });
      });
      lookups += {hit, 1};
      if (!hit)
        ask(of_one << at);
    }
    return lookups;
  }
  /// Asks so often at most, for so many lines of 128 bytes.
  static std::size_t most_asked(std::size_t lines) { return sectors_per_line * lines; }

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
