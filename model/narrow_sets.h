// Sets of few ways, small enough that one fits a line or two of the host's cache. The lines of a set, and
// their states, lie in the order of their use, the one used last in front: all line numbers are compared at
// once, and a hit and a miss are the same few steps without a branch between them.
#pragma once

#include "model/instructions.h"
#include "model/set_store.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace warplens::model {

/// Sets of at most `most_ways` (4, 8 or 16) ways, in memory that someone else keeps.
template <unsigned most_ways> class NarrowSets {
public:
  explicit NarrowSets(std::uint32_t ways) : oldest_(ways - 1) {}

  std::size_t bytes(std::uint32_t sets) const { return std::size_t(set_bytes) * sets; }
  /// The memory already holds sets of this kind.
  void find_in(std::byte* memory) { memory_ = memory; }
  void place_in(std::byte* memory, std::uint32_t sets) {
    memory_ = memory;
    for (std::uint32_t set = 0; set < sets; ++set)
      std::fill_n(at(set), states_at, std::byte{0xff});
    static_assert(no_line == 0xffff'ffff);
  }

  /// Makes the line the first of its set, in place of the last one if it was not there. `change` takes its
  /// state, 0 for a new one, and returns its new state.
  template <class Instructions, class Change>
  SetOutcome access(std::uint32_t number, std::uint32_t line, Change&& change) const {
    std::byte* set = at(number);
    const unsigned found = find<Instructions>(set, line);
    // Where it was, or, if it was not there, where the one to be displaced is.
    const unsigned way = unsigned(std::countr_zero(found | 1u << oldest_));
    const bool hit = found != 0;
    const std::uint32_t evicted_line = lines(set)[way];
    const LineState state = states(set)[way];
    const LineState before = hit ? state : LineState{0};
    to_front<Instructions>(set, way, line);
    *states(set) = change(before);
    return {hit, evicted_line, LineState(state ^ before)};
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  LineState* peek(std::uint32_t number, std::uint32_t line) const {
    std::byte* set = at(number);
    const unsigned found = find<PlainInstructions>(set, line);
    return found == 0 ? nullptr : states(set) + std::countr_zero(found);
  }

  void prefetch(std::uint32_t number) const {
    const std::byte* set = at(number);
    __builtin_prefetch(set, 1);
    if (set_bytes > 64)
      __builtin_prefetch(set + 64, 1);
  }

private:
  // A set in memory: the line numbers, where there are fewer ways numbers that no line has; the states. One
  // that fits a line of the host's cache does not cross into another one.
  static constexpr std::uint32_t states_at = 4 * most_ways, set_bytes = std::bit_ceil(6 * most_ways);
  std::byte* at(std::uint32_t set) const { return memory_ + std::size_t(set) * set_bytes; }
  static std::uint32_t* lines(std::byte* set) { return reinterpret_cast<std::uint32_t*>(set); }
  static LineState* states(std::byte* set) { return reinterpret_cast<LineState*>(set + states_at); }

#if defined(__x86_64__)
  /// One bit for each way that holds the line.
  template <class Instructions> static unsigned find(const std::byte* set, std::uint32_t line) {
    if constexpr (most_ways == 8 && std::same_as<Instructions, Avx2Instructions>)
      return find_in_eight(set, line);
    unsigned found = 0;
    for (unsigned group = 0; group < most_ways / 4; ++group) {
      const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(set) + group);
      const __m128i equal = _mm_cmpeq_epi32(four, _mm_set1_epi32(int(line)));
      found |= unsigned(_mm_movemask_ps(_mm_castsi128_ps(equal))) << 4 * group;
    }
    return found;
  }

  /// What is in front of the way moves one place back, and the line comes before it. The state in front is
  /// any.
  template <class Instructions> static void to_front(std::byte* set, unsigned way, std::uint32_t line) {
    if constexpr (most_ways <= 8 && std::same_as<Instructions, Avx2Instructions>)
      return rotate(set, way, line);
    // Those of the last group first: its neighbour in the group before is still in place then.
    for (unsigned group = most_ways / 4; group-- != 0;) {
      __m128i* at = reinterpret_cast<__m128i*>(set) + group;
      const __m128i old = _mm_load_si128(at);
      const __m128i moved =
          group == 0 ? _mm_castps_si128(_mm_move_ss(_mm_castsi128_ps(_mm_slli_si128(old, 4)),
                                                    _mm_castsi128_ps(_mm_cvtsi32_si128(int(line)))))
                     : _mm_loadu_si128(reinterpret_cast<const __m128i*>(lines(set) + 4 * group - 1));
      _mm_store_si128(at, select(up_to<std::uint32_t>(way, 4 * group), moved, old));
    }
    for (unsigned eight = (most_ways + 7) / 8; eight-- != 0;) {
      __m128i* at = reinterpret_cast<__m128i*>(states(set)) + eight;
      const __m128i old = most_ways == 4 ? _mm_loadl_epi64(at) : _mm_load_si128(at);
      const __m128i moved =
          eight == 0 ? _mm_slli_si128(old, 2)
                     : _mm_loadu_si128(reinterpret_cast<const __m128i*>(states(set) + 8 * eight - 1));
      const __m128i fresh = select(up_to<LineState>(way, 8 * eight), moved, old);
      if constexpr (most_ways == 4)
        _mm_storel_epi64(at, fresh);
      else
        _mm_store_si128(at, fresh);
    }
  }

  static __m128i select(__m128i where, __m128i yes, __m128i no) {
    return _mm_or_si128(_mm_and_si128(where, yes), _mm_andnot_si128(where, no));
  }
  /// All bits in each place from `first` on that is not behind the way.
  template <class Place> static __m128i up_to(unsigned way, unsigned first) {
    return _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(&up_to_last_way<Place>[most_ways - 1 - way + first]));
  }
  /// All bits in the places up to the last way; from there shifted, up to any other.
  template <class Place>
  static constexpr auto up_to_last_way = [] {
    std::array<Place, 2 * most_ways + 8> places{};
    for (unsigned way = 0; way < most_ways; ++way)
      places[way] = Place(~Place{0});
    return places;
  }();

  /// For each way, where each place's content comes from when that way comes to the front: lines by number,
  /// states by their bytes.
  struct alignas(64) Rotation {
    std::uint32_t lines[8];
    LineState states[8];
  };
  static constexpr auto rotations = [] {
    std::array<Rotation, 8> all{};
    for (unsigned way = 0; way < 8; ++way)
      for (unsigned place = 0; place < 8; ++place) {
        const unsigned from = place == 0 ? way : place <= way ? place - 1 : place;
        all[way].lines[place] = from;
        all[way].states[place] = LineState(2 * from | (2 * from + 1) << 8);
      }
    return all;
  }();

  [[gnu::target("avx2")]] static unsigned find_in_eight(const std::byte* set, std::uint32_t line) {
    const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(set));
    const __m256i equal = _mm256_cmpeq_epi32(eight, _mm256_set1_epi32(int(line)));
    return unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
  }

  [[gnu::target("avx2")]] static void rotate(std::byte* set, unsigned way, std::uint32_t line) {
    const Rotation& from = rotations[way];
    const __m128i of_states = _mm_load_si128(reinterpret_cast<const __m128i*>(from.states));
    if constexpr (most_ways == 4) {
      __m128* at = reinterpret_cast<__m128*>(set);
      const __m128 moved = _mm_permutevar_ps(_mm_load_ps(reinterpret_cast<const float*>(set)),
                                             _mm_load_si128(reinterpret_cast<const __m128i*>(from.lines)));
      *at = _mm_castsi128_ps(_mm_blend_epi32(_mm_castps_si128(moved), _mm_set1_epi32(int(line)), 1));
      __m128i* of_set = reinterpret_cast<__m128i*>(set + states_at);
      _mm_storel_epi64(of_set, _mm_shuffle_epi8(_mm_loadl_epi64(of_set), of_states));
    } else {
      __m256i* at = reinterpret_cast<__m256i*>(set);
      const __m256i moved = _mm256_permutevar8x32_epi32(
          _mm256_load_si256(at), _mm256_load_si256(reinterpret_cast<const __m256i*>(from.lines)));
      _mm256_store_si256(at, _mm256_blend_epi32(moved, _mm256_set1_epi32(int(line)), 1));
      __m128i* of_set = reinterpret_cast<__m128i*>(set + states_at);
      _mm_store_si128(of_set, _mm_shuffle_epi8(_mm_load_si128(of_set), of_states));
    }
  }
#else
  template <class Instructions> static unsigned find(std::byte* set, std::uint32_t line) {
    unsigned found = 0;
    for (unsigned way = 0; way < most_ways; ++way)
      found |= unsigned(lines(set)[way] == line) << way;
    return found;
  }
  template <class Instructions> static void to_front(std::byte* set, unsigned way, std::uint32_t line) {
    std::copy_backward(lines(set), lines(set) + way, lines(set) + way + 1);
    std::copy_backward(states(set), states(set) + way, states(set) + way + 1);
    *lines(set) = line;
  }
#endif

  std::uint32_t oldest_; ///< the last place
  std::byte* memory_ = nullptr;
};

} // namespace warplens::model
