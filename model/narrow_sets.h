// Sets of few ways, small enough that one fits a line or two of the host's cache. All line numbers of a set
// are compared at once; the order of use is one number beside them, so that a hit and a miss are the same few
// steps without a branch between them, and nothing but that number moves.
#pragma once

#include "model/instructions.h"
#include "model/set_store.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace warplens::model {

/// The ways of a set by their use: four bits each, the way used last in the lowest ones.
template <unsigned ways> struct UseOrder {
  using Number =
      std::conditional_t<ways <= 4, std::uint16_t, std::conditional_t<ways <= 8, std::uint32_t, std::uint64_t>>;
  static constexpr Number first = Number(0xfedc'ba98'7654'3210);

  /// The way at a place, of which the one used last has number 0.
  static unsigned way_at(std::uint64_t order, unsigned place) { return unsigned(order >> 4 * place) & 15; }

  /// The order once the way was used: what was used after it is one place further back.
  static Number with_last(std::uint64_t order, unsigned way) {
    constexpr std::uint64_t ones = 0x1111'1111'1111'1111;
    // The lowest four bits that are zero, of those where the way is; what a borrow makes of higher ones does
    // not matter.
    const std::uint64_t apart = order ^ way * ones;
    const std::uint64_t found = (apart - ones) & ~apart & 8 * ones;
    const std::uint64_t up_to_way = found ^ (found - 1);
    return Number((order & ~up_to_way) | ((order << 4 | way) & up_to_way));
  }
};

/// Of two ways: the one that is not the last.
template <> struct UseOrder<2> {
  using Number = std::uint8_t;
  static constexpr Number first = 1;
  static unsigned way_at(unsigned order, unsigned last_place) { return order & last_place; }
  static Number with_last(unsigned, unsigned way) { return Number(way ^ 1); }
};

/// Sets of at most `most_ways` (2, 4, 8, 9 or 16) ways, in memory that someone else keeps.
template <unsigned most_ways> class NarrowSets {
public:
  explicit NarrowSets(std::uint32_t ways) : last_place_(ways - 1) {}

  std::size_t bytes(std::uint32_t sets) const { return std::size_t(set_bytes) * sets; }
  void place_in(std::byte* memory, std::uint32_t sets) {
    memory_ = memory;
    for (std::uint32_t number = 0; number < sets; ++number) {
      Set& set = at(number);
      std::fill_n(set.lines, most_ways, no_line);
      set.order = Order::first;
    }
  }

  /// Makes the line the one of its set used last, in place of the one not used for longest if it was not
  /// there. `change` takes its state, 0 for a new one, and returns its new state.
  template <class Instructions, class Change>
  SetOutcome access(std::uint32_t number, std::uint32_t line, Change&& change) const {
    Set& set = at(number);
    const unsigned found = find<Instructions>(set, line);
    const bool hit = found != 0;
    const unsigned oldest = Order::way_at(set.order, last_place_);
    const unsigned way = hit ? unsigned(std::countr_zero(found)) : oldest;
    set.order = Order::with_last(set.order, way);
    const std::uint32_t evicted_line = set.lines[way];
    const LineState state = set.states[way];
    const LineState before = hit ? state : LineState{0};
    set.lines[way] = line;
    set.states[way] = change(before);
    return {hit, evicted_line, LineState(state ^ before)};
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  LineState* peek(std::uint32_t number, std::uint32_t line) const {
    Set& set = at(number);
    const unsigned found = find<PlainInstructions>(set, line);
    return found == 0 ? nullptr : set.states + std::countr_zero(found);
  }

  void prefetch(std::uint32_t number) const {
    const auto* set = reinterpret_cast<const std::byte*>(&at(number));
    __builtin_prefetch(set, 1);
    if (set_bytes > 64)
      __builtin_prefetch(set + 64, 1);
  }

private:
  using Order = UseOrder<most_ways>;
  // One that fits a line of the host's cache does not cross into another one. Where there are fewer ways, the
  // others' lines have a number that no line has.
  static constexpr std::size_t set_bytes = std::bit_ceil(6 * most_ways + sizeof(typename Order::Number));
  struct alignas(set_bytes) Set {
    std::uint32_t lines[most_ways];
    LineState states[most_ways];
    typename Order::Number order;
  };
  static_assert(sizeof(Set) == set_bytes);
  Set& at(std::uint32_t number) const { return reinterpret_cast<Set*>(memory_)[number]; }

  /// One bit for each way that holds the line.
  template <class Instructions> static unsigned find(const Set& set, std::uint32_t line) {
    if constexpr (most_ways == 2)
      return unsigned(set.lines[0] == line) | unsigned(set.lines[1] == line) << 1;
#if defined(__x86_64__)
    else if constexpr (std::same_as<Instructions, Avx2Instructions>)
      return find_by_eight(set, line);
    else
      return find_by_four(set, line, 0);
#else
    unsigned found = 0;
    for (unsigned way = 0; way < most_ways; ++way)
      found |= unsigned(set.lines[way] == line) << way;
    return found;
#endif
  }

#if defined(__x86_64__)
  static unsigned find_by_four(const Set& set, std::uint32_t line, unsigned first) {
    unsigned found = 0;
    for (unsigned way = first; way < most_ways; way += 4) {
      const unsigned four = std::min(way, most_ways - 4); // the last group may overlap the one before
      const __m128i lines = _mm_loadu_si128(reinterpret_cast<const __m128i*>(set.lines + four));
      const __m128i equal = _mm_cmpeq_epi32(lines, _mm_set1_epi32(int(line)));
      found |= unsigned(_mm_movemask_ps(_mm_castsi128_ps(equal))) << four;
    }
    return found;
  }
  [[gnu::target("avx2")]] static unsigned find_by_eight(const Set& set, std::uint32_t line) {
    unsigned found = 0, way = 0;
    for (; way + 8 <= most_ways; way += 8) {
      const __m256i lines = _mm256_load_si256(reinterpret_cast<const __m256i*>(set.lines + way));
      const __m256i equal = _mm256_cmpeq_epi32(lines, _mm256_set1_epi32(int(line)));
      found |= unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(equal))) << way;
    }
    return found | find_by_four(set, line, way);
  }
#endif

  std::uint32_t last_place_;
  std::byte* memory_ = nullptr;
};

} // namespace warplens::model
