// Sets of 2 to 16 ways, small enough that one fits a line or two of the host's cache: all line numbers are
// compared at once, and the order of use is a word with one nibble per way.
#pragma once

#include "model/set_store.h"

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warplens::model {

class NarrowSets {
public:
  static constexpr std::uint32_t max_ways = 16;

  NarrowSets(std::uint32_t sets, std::uint32_t ways)
      : groups_(round_up(ways, 4) / 4), oldest_at_(4 * (ways - 1)), states_at_(16 * groups_),
        order_at_(round_up(states_at_ + 2 * ways, 8)), set_bytes_(padded(order_at_ + 8)),
        memory_(std::size_t(set_bytes_) * sets) {
    for (std::uint32_t set = 0; set < sets; ++set) {
      std::byte* at = memory_.at(set, set_bytes_);
      for (unsigned way = 0; way < 4 * groups_; ++way)
        lines(at)[way] = no_line;
      *order(at) = 0xfedc'ba98'7654'3210u;
    }
  }

  [[gnu::always_inline]] SetOutcome access(std::uint32_t set, std::uint32_t line) {
    std::byte* at = memory_.at(set, set_bytes_);
    if (const unsigned found = find(at, line); found != 0) {
      const unsigned way = unsigned(std::countr_zero(found));
      touch(at, way);
      return {states(at) + way, true};
    }
    std::uint64_t& newest_first = *order(at);
    const unsigned oldest = newest_first >> oldest_at_ & 15;
    newest_first = above(newest_first, oldest_at_) | below(newest_first, oldest_at_) << 4 | oldest;
    LineState* state = states(at) + oldest;
    const SetOutcome outcome{state, false, lines(at)[oldest], *state};
    lines(at)[oldest] = line;
    *state = 0;
    return outcome;
  }

  LineState* use(std::uint32_t set, std::uint32_t line) {
    std::byte* at = memory_.at(set, set_bytes_);
    const unsigned found = find(at, line);
    if (found == 0)
      return nullptr;
    const unsigned way = unsigned(std::countr_zero(found));
    touch(at, way);
    return states(at) + way;
  }

  LineState* peek(std::uint32_t set, std::uint32_t line) {
    std::byte* at = memory_.at(set, set_bytes_);
    const unsigned found = find(at, line);
    return found == 0 ? nullptr : states(at) + std::countr_zero(found);
  }

  void prefetch(std::uint32_t set) const {
    const std::byte* at = memory_.at(set, set_bytes_);
    __builtin_prefetch(at, 1);
    if (set_bytes_ > 64)
      __builtin_prefetch(at + 64, 1);
  }

private:
  // A set in memory: the line numbers (padded to a multiple of four by numbers that no line has), the states,
  // the ways in the order of their use.
  static std::uint32_t* lines(std::byte* set) { return reinterpret_cast<std::uint32_t*>(set); }
  LineState* states(std::byte* set) const { return reinterpret_cast<LineState*>(set + states_at_); }
  std::uint64_t* order(std::byte* set) const { return reinterpret_cast<std::uint64_t*>(set + order_at_); }

  /// A set that fits a line of the host's cache does not cross into another one.
  static constexpr std::uint32_t padded(std::uint32_t bytes) {
    return bytes <= 64 ? std::bit_ceil(bytes) : round_up(bytes, 64);
  }

  /// The nibbles before the one at the position (in bits), and those behind it.
  static std::uint64_t below(std::uint64_t word, unsigned position) {
    return word & ((std::uint64_t{1} << position) - 1);
  }
  static std::uint64_t above(std::uint64_t word, unsigned position) {
    return word & ~std::uint64_t{15} << position;
  }

  /// One bit for each way that holds the line.
  unsigned find(std::byte* set, std::uint32_t line) const {
    unsigned found = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(int(line));
    for (unsigned group = 0; group < groups_; ++group) {
      const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(set) + group);
      found |= unsigned(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)))) << 4 * group;
    }
#else
    for (unsigned way = 0; way < 4 * groups_; ++way)
      found |= unsigned(lines(set)[way] == line) << way;
#endif
    return found;
  }

  void touch(std::byte* set, unsigned way) const {
    std::uint64_t& newest_first = *order(set);
    constexpr std::uint64_t each_nibble = 0x1111'1111'1111'1111u;
    // The lowest nibble equal to `way`: the lowest zero of the difference.
    const std::uint64_t difference = newest_first ^ way * each_nibble;
    const std::uint64_t zeros = (difference - each_nibble) & ~difference & 8 * each_nibble;
    const unsigned position = unsigned(std::countr_zero(zeros)) & ~3u;
    newest_first = above(newest_first, position) | below(newest_first, position) << 4 | way;
  }

  std::uint32_t groups_; ///< of four ways
  unsigned oldest_at_;   ///< where the order names the way used longest ago, in bits
  std::uint32_t states_at_, order_at_, set_bytes_;
  SetMemory memory_;
};

} // namespace warplens::model
