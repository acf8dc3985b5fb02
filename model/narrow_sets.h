// Sets of 2 to 16 ways, small enough that one fits a line or two of the host's cache. The lines of a set, and
// their states, lie in the order of their use, the one used last in front: all line numbers are compared at
// once, and a hit and a miss are the same few steps without a branch between them.
#pragma once

#include "model/set_store.h"

#include <algorithm>
#include <array>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warplens::model {

class NarrowSets {
public:
  static constexpr std::uint32_t max_ways = 16;

  NarrowSets(std::uint32_t sets, std::uint32_t ways)
      : groups_(round_up(ways, 4) / 4), ways_(ways), states_at_(16 * groups_),
        set_bytes_(padded(states_at_ + 2 * round_up(ways, groups_ == 1 ? 4 : 8))),
        memory_(std::size_t(set_bytes_) * sets) {
    for (std::uint32_t set = 0; set < sets; ++set)
      std::fill_n(lines(memory_.at(set, set_bytes_)), 4 * groups_, no_line);
  }

  [[gnu::always_inline]] SetOutcome access(std::uint32_t set, std::uint32_t line) {
    std::byte* at = memory_.at(set, set_bytes_);
    switch (groups_) {
    case 1: return access_in<1>(at, line);
    case 2: return access_in<2>(at, line);
    case 3: return access_in<3>(at, line);
    default: return access_in<4>(at, line);
    }
  }

  LineState* use(std::uint32_t set, std::uint32_t line) {
    return peek(set, line) == nullptr ? nullptr : access(set, line).state;
  }

  LineState* peek(std::uint32_t set, std::uint32_t line) {
    std::byte* at = memory_.at(set, set_bytes_);
    unsigned found = 0;
    for (unsigned group = 0; group < groups_; ++group)
      found |= find(at, group, line);
    return found == 0 ? nullptr : states(at) + std::countr_zero(found);
  }

  void prefetch(std::uint32_t set) const {
    const std::byte* at = memory_.at(set, set_bytes_);
    __builtin_prefetch(at, 1);
    if (set_bytes_ > 64)
      __builtin_prefetch(at + 64, 1);
  }

private:
  /// All bits in the places up to the last way; from there shifted, up to any other.
  template <class Place>
  static constexpr auto up_to_last_way = [] {
    std::array<Place, 2 * max_ways> places{};
    for (unsigned way = 0; way < max_ways; ++way)
      places[way] = Place(~Place{0});
    return places;
  }();

  // A set in memory: the line numbers (padded to a multiple of four by numbers that no line has), the states.
  static std::uint32_t* lines(std::byte* set) { return reinterpret_cast<std::uint32_t*>(set); }
  LineState* states(std::byte* set) const { return reinterpret_cast<LineState*>(set + states_at_); }

  /// A set that fits a line of the host's cache does not cross into another one.
  static constexpr std::uint32_t padded(std::uint32_t bytes) {
    return bytes <= 64 ? std::bit_ceil(bytes) : round_up(bytes, 64);
  }

  template <unsigned groups> SetOutcome access_in(std::byte* at, std::uint32_t line) {
    unsigned found = 0;
    for (unsigned group = 0; group < groups; ++group)
      found |= find(at, group, line);
    // Where it was, or, if it was not there, where the one to be displaced is.
    const unsigned way = unsigned(std::countr_zero(found | 1u << (ways_ - 1)));
    const bool hit = found != 0;
    const std::uint32_t evicted_line = lines(at)[way];
    const LineState state = states(at)[way];
    const LineState before = hit ? state : LineState{0};
    to_front<groups>(lines(at), way, line);
    to_front<groups>(states(at), way, before);
    return {states(at), before, hit, evicted_line, LineState(state ^ before)};
  }

#if defined(__SSE2__)
  /// One bit for each of the four ways that holds the line.
  static unsigned find(const std::byte* set, unsigned group, std::uint32_t line) {
    const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(set) + group);
    const __m128i equal = _mm_cmpeq_epi32(four, _mm_set1_epi32(int(line)));
    return unsigned(_mm_movemask_ps(_mm_castsi128_ps(equal))) << 4 * group;
  }

  /// What is in front of the way moves one place back, and `front` comes before it.
  template <unsigned groups> static void to_front(std::uint32_t* line, unsigned way, std::uint32_t front) {
    // Those of the last group first: its neighbour in the group before is still in place then.
    for (unsigned group = groups; group-- != 0;) {
      __m128i* at = reinterpret_cast<__m128i*>(line) + group;
      const __m128i old = _mm_load_si128(at);
      const __m128i moved =
          group == 0 ? _mm_castps_si128(_mm_move_ss(_mm_castsi128_ps(_mm_slli_si128(old, 4)),
                                                    _mm_castsi128_ps(_mm_cvtsi32_si128(int(front)))))
                     : _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + 4 * group - 1));
      _mm_store_si128(at, select(up_to<std::uint32_t>(way, 4 * group), moved, old));
    }
  }
  template <unsigned groups> static void to_front(LineState* state, unsigned way, LineState front) {
    if constexpr (groups == 1) {
      const __m128i old = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(state));
      const __m128i moved = _mm_insert_epi16(_mm_slli_si128(old, 2), front, 0);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(state), select(up_to<LineState>(way, 0), moved, old));
      return;
    }
    for (unsigned eight = groups / 2 + groups % 2; eight-- != 0;) {
      __m128i* at = reinterpret_cast<__m128i*>(state) + eight;
      const __m128i old = _mm_load_si128(at);
      const __m128i moved = eight == 0
                                ? _mm_insert_epi16(_mm_slli_si128(old, 2), front, 0)
                                : _mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 8 * eight - 1));
      _mm_store_si128(at, select(up_to<LineState>(way, 8 * eight), moved, old));
    }
  }

  static __m128i select(__m128i where, __m128i yes, __m128i no) {
    return _mm_or_si128(_mm_and_si128(where, yes), _mm_andnot_si128(where, no));
  }
  /// All bits in each place from `first` on that is not behind the way.
  template <class Place> static __m128i up_to(unsigned way, unsigned first) {
    return _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(&up_to_last_way<Place>[max_ways - 1 - way + first]));
  }
#else
  static unsigned find(std::byte* set, unsigned group, std::uint32_t line) {
    unsigned found = 0;
    for (unsigned way = 4 * group; way < 4 * group + 4; ++way)
      found |= unsigned(lines(set)[way] == line) << way;
    return found;
  }
  template <unsigned groups, class Place> static void to_front(Place* places, unsigned way, Place front) {
    std::copy_backward(places, places + way, places + way + 1);
    places[0] = front;
  }
#endif

  std::uint32_t groups_; ///< of four ways
  std::uint32_t ways_, states_at_, set_bytes_;
  SetMemory memory_;
};

} // namespace warplens::model
