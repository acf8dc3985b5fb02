// Sets of few ways, small enough that one fits a line or two of the host's cache. All line numbers of a set
// are compared at once, and so are their ages: a hit and a miss are the same few steps without a branch
// between them, and no line moves.
#pragma once

#include "model/cache/ages.h"
#include "model/cache/set_store.h"
#include "numeric/instructions.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <memory>

namespace warplens::model {

/// The number of ways of each set, where all have the same.
class SameWays {
public:
  SameWays(std::uint32_t ways) : last_age_(ways - 1) {}
  std::uint32_t last_age(std::uint32_t) const { return last_age_; }

private:
  std::uint32_t last_age_;
};

/// Sets of few ways, in memory that the caller keeps. `way_capacity` (2, 4, 8, 9 or 16) is the number of ways
/// that a set has memory for, so a set may have fewer; `Ways` returns the age of the oldest line in a full
/// set.
template <unsigned way_capacity, class Ways = SameWays> class NarrowSets {
public:
  static constexpr std::uint32_t max_ways = way_capacity;

  explicit NarrowSets(Ways ways) : ways_(ways) {}

  std::size_t bytes(std::uint32_t sets) const { return std::size_t(set_bytes) * sets; }
  /// Uses memory that already holds sets of this kind.
  void find_in(std::byte* memory) { memory_ = memory; }
  /// Places empty sets in the memory.
  void place_in(std::byte* memory, std::uint32_t sets) {
    memory_ = memory;
    Set empty{};
    std::fill_n(empty.lines, way_capacity, no_line);
    empty.ages.begin();
    std::uninitialized_fill_n(&at(0), sets, empty);
  }

  /// Does what Lines::access() does, in the set of this number.
  template <class Instructions, class Change, class Evict = DiscardVictim>
  [[gnu::always_inline]] bool access(std::uint32_t number, std::uint32_t line, Change&& change,
                                     Evict&& evict = {}) const {
    Set& set = at(number);
    const WayBits<way_capacity> found = find<Instructions>(set, line);
    const bool hit = found.any();
    // The way is the one that holds the line, else the least recently used one.
    const unsigned way = set.ages.template choose<Instructions>(found, ways_.last_age(number));
    set.ages.use(way);
    const LineState state = set.states[way];
    if (way_capacity == 2 && !hit) { // with two ways, choose() has already branched on the hit
      evict(set.lines[way], state);
      set.lines[way] = line;
      set.states[way] = change(LineState{0});
      return false;
    }
    const auto before = LineState(state & -unsigned(hit)); // 0 for a new line
    evict(set.lines[way], LineState(state ^ before));
    set.lines[way] = line;
    set.states[way] = change(before);
    return hit;
  }

  /// Returns the line's state, null if it is not cached; the LRU order stays.
  LineState* peek(std::uint32_t number, std::uint32_t line) const {
    Set& set = at(number);
    const WayBits<way_capacity> found = find<PlainInstructions>(set, line);
    return found.any() ? set.states + found.first() : nullptr;
  }

  /// Makes the line, if it is cached, the first that a new one replaces once all ways are in use.
  void make_oldest(std::uint32_t number, std::uint32_t line) const {
    Set& set = at(number);
    const WayBits<way_capacity> found = find<PlainInstructions>(set, line);
    if (found.any())
      model::make_oldest(set.ages, found.first(), ways_.last_age(number),
                         [&](unsigned other) { return set.lines[other] == no_line; });
  }

  void prefetch(std::uint32_t number) const {
    const auto* set = reinterpret_cast<const std::byte*>(&at(number));
    for (std::size_t at = 0; at < set_bytes; at += 64)
      __builtin_prefetch(set + at, 1);
  }

private:
  // A set that fits a line of the host's cache does not cross into another one. Ways beyond those of the set
  // hold a number that no line has, and stay the oldest.
  static constexpr std::size_t set_bytes = std::bit_ceil(6 * way_capacity + sizeof(Ages<way_capacity>));
  struct alignas(set_bytes) Set {
    std::uint32_t lines[way_capacity];
    Ages<way_capacity> ages;
    LineState states[way_capacity];
  };
  static_assert(sizeof(Set) == set_bytes && set_bytes <= std::size_t(SetMemory::alignment));
  Set& at(std::uint32_t number) const { return reinterpret_cast<Set*>(memory_)[number]; }

  /// Returns the ways that hold the line.
  template <class Instructions>
  [[gnu::always_inline]] static WayBits<way_capacity> find(const Set& set, std::uint32_t line) {
    WayBits<way_capacity> found;
    if constexpr (way_capacity == 2)
      found.of[0] = unsigned(set.lines[0] == line) | unsigned(set.lines[1] == line) << 1;
#if defined(__x86_64__)
    else if constexpr (std::same_as<Instructions, Avx2Instructions>)
      found.of[0] = find_by_eight(set, line);
    else
      found.of[0] = find_by_four(set, _mm_set1_epi32(int(line)), 0);
#else
    else
      for (unsigned way = 0; way < way_capacity; ++way)
        found.of[0] |= unsigned(set.lines[way] == line) << way;
#endif
    return found;
  }

#if defined(__x86_64__)
  static unsigned find_by_four(const Set& set, __m128i line, unsigned first) {
    unsigned found = 0;
    for (unsigned way = first; way < way_capacity; way += 4) {
      const unsigned four = std::min(way, way_capacity - 4); // the last group may overlap the one before
      const __m128i lines = _mm_loadu_si128(reinterpret_cast<const __m128i*>(set.lines + four));
      const __m128i equal = _mm_cmpeq_epi32(lines, line);
      found |= unsigned(_mm_movemask_ps(_mm_castsi128_ps(equal))) << four;
    }
    return found;
  }
  [[gnu::target("avx2")]] static unsigned find_by_eight(const Set& set, std::uint32_t line) {
    const __m256i wanted = _mm256_set1_epi32(int(line));
    unsigned found = 0, way = 0;
    for (; way + 8 <= way_capacity; way += 8) {
      const __m256i lines = _mm256_load_si256(reinterpret_cast<const __m256i*>(set.lines + way));
      const __m256i equal = _mm256_cmpeq_epi32(lines, wanted);
      found |= unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(equal))) << way;
    }
    return found | find_by_four(set, _mm256_castsi256_si128(wanted), way);
  }
#endif

  Ways ways_;
  std::byte* memory_ = nullptr;
};

} // namespace warplens::model
