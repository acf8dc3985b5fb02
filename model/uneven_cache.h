// A store of lines a quarter of which overflows before the rest, at once, as the L1s of GPUs do
// (docs/replacement.md): of each `period` consecutive lines the first quarter lies in an early part, a set of
// seven ways for each place in it. The other lines fill sets of few ways evenly.
#pragma once

#include "model/cache.h"

#include <algorithm>

namespace warplens::model {

/// The early sets come first.
class UnevenIndex {
public:
  /// `period` at least 4, `others` at least 1.
  UnevenIndex(std::uint32_t period, std::uint32_t others)
      : period_(period), others_(others), early_(period / 4) {}

  std::uint32_t early() const { return early_; }
  std::uint32_t sets() const { return early_ + others_.value(); }
  std::uint32_t operator()(std::uint32_t line) const {
    const std::uint32_t period = period_.quotient_in_loop(line);
    const std::uint32_t place = line - period * period_.value();
    // Numbered without the lines of the early part; means nothing for these.
    const std::uint32_t other = line - (period + 1) * early_;
    return place < early_ ? place : early_ + others_.remainder(other);
  }

private:
  Divisor period_, others_;
  std::uint32_t early_;
};

class UnevenCache {
public:
  static constexpr std::uint32_t early_ways = 7, most_ways = 8;

  /// The early part overflows from `early_usable` of the lines on, the other sets, of at most `most_ways`,
  /// from `usable` on. Odd numbers of both: strides of powers of two spread.
  UnevenCache(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways)
      : UnevenCache(UnevenIndex(std::max(4u, sets_in(bytes, early_usable, early_ways)) | 1,
                                sets_in(bytes, 0.75 * usable, ways) | 1),
                    ways) {}

  UnevenCache(UnevenCache&&) noexcept = default;

  template <class Work> decltype(auto) with_lines(Work&& work) const { return work(lines_); }

private:
  struct Ways {
    std::uint32_t early, others_last_age;
    std::uint32_t last_age(std::uint32_t set) const { return set < early ? early_ways - 1 : others_last_age; }
  };
  using Sets = NarrowSets<most_ways, Ways>;

  UnevenCache(const UnevenIndex& index, std::uint32_t ways)
      : lines_(index, index.sets(), Sets({index.early(), ways - 1})), memory_(lines_.make_memory(1)) {}

  Lines<Sets, UnevenIndex> lines_;
  SetMemory memory_;
};

} // namespace warplens::model
