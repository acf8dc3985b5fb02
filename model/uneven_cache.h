// A store of lines a part of which overflows before the rest, at once, as caches of GPUs do
// (docs/replacement.md): of each `period` consecutive lines the first ones lie in an early part, a set of
// eight ways for each place in it. The other lines fill sets of few ways evenly.
#pragma once

#include "model/cache.h"
#include "model/geometry.h"

#include <algorithm>
#include <variant>

namespace warplens::model {

/// The early sets come first.
class UnevenIndex {
public:
  /// `early` at least 1 and less than `period`, `others` at least 1.
  UnevenIndex(std::uint32_t period, std::uint32_t early, std::uint32_t others)
      : period_(period), others_(others), early_(early) {}

  std::uint32_t early() const { return early_; }
  std::uint32_t sets() const { return early_ + others_.value(); }
  std::uint32_t operator()(std::uint32_t line) const {
    return set_of(line, [this](std::uint32_t other) { return others_.remainder(other); });
  }
  /// As SetIndex::with_loop_form().
  template <class Work> void with_loop_form(Work&& work) const {
    const UnevenIndex index = *this; // a copy, which nothing that is written can change
    work([index](std::uint32_t line) {
      return index.set_of(line,
                          [index](std::uint32_t other) { return index.others_.remainder_in_loop(other); });
    });
  }

private:
  template <class Remainder> std::uint32_t set_of(std::uint32_t line, Remainder&& remainder) const {
    const std::uint32_t period = period_.quotient_in_loop(line);
    const std::uint32_t place = line - period * period_.value();
    // Numbered without the lines of the early part; means nothing for these.
    const std::uint32_t other = line - (period + 1) * early_;
    const std::uint32_t other_set = early_ + remainder(other);
    return place < early_ ? place : other_set;
  }

  Divisor period_, others_;
  std::uint32_t early_;
};

class UnevenCache {
public:
  static constexpr std::uint32_t early_ways = 8, most_ways = 8, lines_per_early_set = 32, most_parts = 2;
  /// So that no more than half of the lines are early ones.
  static constexpr double least_early_usable = 0.5;

  /// The early part overflows from `early_usable` of the lines on, the other sets, of at most `most_ways`,
  /// from `usable` on. A power of two of early sets, no more than one for 32 lines; odd numbers of the other
  /// sets and of the period: strides of powers of two spread.
  UnevenCache(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways,
              std::uint32_t parts = 1)
      : UnevenCache(index(bytes, early_usable, usable, ways), ways, parts) {}

  UnevenCache(const UnevenCache& other) : lines_(other.lines_), memory_(other.memory_) {
    lines_.find_in(memory_);
  }
  UnevenCache(UnevenCache&&) noexcept = default;

  template <class Work> decltype(auto) with_lines(Work&& work) const { return work(lines_); }

private:
  struct Ways {
    std::uint32_t early, others_last_age, sets_per_part;
    std::uint32_t last_age(std::uint32_t set) const {
      const std::uint32_t in_part = set < sets_per_part ? set : set - sets_per_part;
      return in_part < early ? early_ways - 1 : others_last_age;
    }
  };
  using Sets = NarrowSets<most_ways, Ways>;

  static UnevenIndex index(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways) {
    const auto lines = std::uint32_t(bytes / line_bytes);
    const std::uint32_t early = std::max(1u, std::bit_floor(lines / lines_per_early_set));
    const std::uint32_t period = std::max(2 * early, sets_in(bytes, early_usable, early_ways)) | 1;
    return {period, early, sets_in(bytes, usable * (period - early) / period, ways) | 1};
  }
  UnevenCache(const UnevenIndex& index, std::uint32_t ways, std::uint32_t parts)
      : lines_(index, index.sets(), Sets({index.early(), ways - 1, index.sets()})),
        memory_(lines_.make_memory(parts)) {}

  Lines<Sets, UnevenIndex> lines_;
  SetMemory memory_;
};

/// Either kind, as a GPU's file says: an L1, or an L2's copies.
class CacheOfFile {
public:
  /// `early_usable` 0: sets that are all alike. At most UnevenCache::most_parts parts.
  CacheOfFile(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways, IndexHash index,
              std::uint32_t parts = 1)
      : cache_(make(bytes, early_usable, usable, ways, index, parts)) {}

  /// As Cache::with_lines().
  template <class Work> decltype(auto) with_lines(Work&& work) const {
    if (const auto* const uneven = std::get_if<UnevenCache>(&cache_))
      return uneven->with_lines(work);
    return std::get_if<Cache>(&cache_)->with_lines(work);
  }

private:
  using Any = std::variant<Cache, UnevenCache>;
  static Any make(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways,
                  IndexHash index, std::uint32_t parts) {
    if (early_usable > 0)
      return UnevenCache(bytes, early_usable, usable, ways, parts);
    return Cache(sets_in(bytes, usable, ways), ways, index, parts);
  }

  Any cache_;
};

} // namespace warplens::model
