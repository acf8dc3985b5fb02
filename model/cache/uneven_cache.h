// A cache of two set groups with different associativity, of which the smaller one conflicts first, as
// measured on caches of GPUs (docs/replacement.md): the first lines of each `period` consecutive ones lie in
// an early part, which has a set of eight ways for each of these positions. The other lines fill sets of few
// ways evenly.
#pragma once

#include "model/cache/cache.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <variant>

namespace warplens::model {

/// Maps a line to its set. The early sets have the lowest numbers.
class UnevenIndex {
public:
  /// `early` must be at least 1 and less than `period`, `others` at least 1.
  UnevenIndex(std::uint32_t period, std::uint32_t early, std::uint32_t others)
      : period_(period), others_(others), early_(early) {}

  std::uint32_t early() const { return early_; }
  std::uint32_t sets() const { return early_ + others_.value(); }
  std::uint32_t operator()(std::uint32_t line) const {
    return set_of(line, [this](std::uint32_t other) { return others_.remainder(other); });
  }
  /// Does what SetIndex::with_loop_form() does.
  template <class Work> void with_loop_form(Work&& work) const {
    const UnevenIndex index = *this; // a copy, which the compiler knows that no store changes
    work([index](std::uint32_t line) {
      return index.set_of(line,
                          [index](std::uint32_t other) { return index.others_.remainder_in_loop(other); });
    });
  }

private:
  template <class Remainder> std::uint32_t set_of(std::uint32_t line, Remainder&& remainder) const {
    const std::uint32_t period = period_.quotient_in_loop(line);
    const std::uint32_t place = line - period * period_.value();
    // The line's number among those outside the early part; lines in it do not use the value.
    const std::uint32_t other = line - (period + 1) * early_;
    const std::uint32_t other_set = early_ + remainder(other);
    return place < early_ ? place : other_set;
  }

  Divisor period_, others_;
  std::uint32_t early_;
};

class UnevenCache {
public:
  static constexpr std::uint32_t early_ways = 8, way_capacity = max_ways_with_early_part,
                                 lines_per_early_set = 32;

  /// The early part overflows from `early_usable` of the lines on, the other sets, of at most `way_capacity`
  /// ways, from `usable` on. The number of early sets is a power of two, no more than one for 32 lines; the
  /// number of the other sets and the period are odd, so that strides of powers of two spread.
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
  using Sets = NarrowSets<way_capacity, Ways>;

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

/// An L1: an L1Cache or an UnevenCache, as the GPU file says.
class CacheOfFile {
public:
  /// All sets are alike where `early_usable` is 0. There are at most two parts.
  CacheOfFile(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways, IndexHash index,
              std::uint32_t parts = 1)
      : cache_(make(bytes, early_usable, usable, ways, index, parts)) {}

  /// Calls `work` with the Lines, as CacheOf::with_lines() does.
  template <class Work> decltype(auto) with_lines(Work&& work) const {
    if (const auto* const uneven = std::get_if<UnevenCache>(&cache_))
      return uneven->with_lines(work);
    return std::get_if<L1Cache>(&cache_)->with_lines(work);
  }

private:
  using Any = std::variant<L1Cache, UnevenCache>;
  static Any make(std::uint64_t bytes, double early_usable, double usable, std::uint32_t ways,
                  IndexHash index, std::uint32_t parts) {
    if (early_usable > 0)
      return UnevenCache(bytes, early_usable, usable, ways, parts);
    return L1Cache(sets_in(bytes, usable, ways), ways, index, parts);
  }

  Any cache_;
};

} // namespace warplens::model
