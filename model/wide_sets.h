// Sets of many ways (to 256): one byte of hash per way, compared 64 at a time, finds the way; a ring of
// one-byte links keeps the order of use, so that a touch and a replacement cost the same for any number of
// ways.
#pragma once

#include "model/set_store.h"

#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace warplens::model {

/// In memory that someone else keeps, zero at first.
class WideSets {
public:
  explicit WideSets(std::uint32_t ways)
      : ways_(ways), links_at_(round_up(ways, 64)), lines_at_(round_up(links_at_ + 2 * ways, 4)),
        states_at_(lines_at_ + 4 * ways), head_at_(states_at_ + 2 * ways),
        set_bytes_(round_up(head_at_ + 1, 64)) {}

  std::size_t bytes(std::uint32_t sets) const { return std::size_t(set_bytes_) * sets; }
  /// The memory already holds sets of this kind.
  void find_in(std::byte* memory) { memory_ = memory; }
  void place_in(std::byte* memory, std::uint32_t sets) {
    memory_ = memory;
    for (std::uint32_t set = 0; set < sets; ++set)
      clear(at(set));
  }

  /// Makes the line the most recently used one of its set, in place of the least recently used one if it was
  /// not there. `change` takes its state, 0 for a new one, and returns its new state.
  template <class Instructions, class Change>
  SetOutcome access(std::uint32_t number, std::uint32_t line, Change&& change) const {
    std::byte* set = at(number);
    const std::uint32_t fingerprint = fingerprint_of(line);
    const int way = find(set, line, fingerprint);
    if (way >= 0) {
      touch(set, unsigned(way));
      LineState* const found = state(set, unsigned(way));
      *found = change(*found);
      return {true};
    }
    std::uint8_t* head = byte(set, head_at_);
    const unsigned oldest = *byte(set, links_at_ + 2 * *head);
    *head = std::uint8_t(oldest); // the ring's oldest is next to its newest
    *byte(set, oldest) = std::uint8_t(fingerprint);
    const SetOutcome outcome{false, *line_at(set, oldest), *state(set, oldest)};
    *line_at(set, oldest) = line;
    *state(set, oldest) = change(LineState{0});
    return outcome;
  }

  LineState* peek(std::uint32_t number, std::uint32_t line) const {
    std::byte* set = at(number);
    const int way = find(set, line, fingerprint_of(line));
    return way < 0 ? nullptr : state(set, unsigned(way));
  }

  void prefetch(std::uint32_t number) const {
    const std::byte* set = at(number);
    for (std::uint32_t i = 0; i < set_bytes_; i += 64)
      __builtin_prefetch(set + i, 1);
  }

private:
  // A set in memory: a byte of hash per way (padded to 64), the ring's links (previous, next), the line
  // numbers, the states, the ring's newest way.
  std::byte* at(std::uint32_t set) const { return memory_ + std::size_t(set) * set_bytes_; }
  static std::uint8_t* byte(std::byte* set, std::uint32_t at) {
    return reinterpret_cast<std::uint8_t*>(set + at);
  }
  std::uint32_t* line_at(std::byte* set, unsigned way) const {
    return reinterpret_cast<std::uint32_t*>(set + lines_at_) + way;
  }
  LineState* state(std::byte* set, unsigned way) const {
    return reinterpret_cast<LineState*>(set + states_at_) + way;
  }

  static std::uint32_t fingerprint_of(std::uint32_t line) { return line * 0x9e37'79b1u >> 24; }

  /// One bit for each of 64 ways whose byte equals the fingerprint.
  static std::uint64_t candidates(const std::byte* bytes, std::uint32_t fingerprint) {
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(char(fingerprint));
    std::uint64_t found = 0;
    for (unsigned part = 0; part < 4; ++part) {
      const __m128i sixteen = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes) + part);
      found |= std::uint64_t(std::uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, wanted))))
               << (16 * part);
    }
    return found;
#else
    std::uint64_t found = 0;
    for (unsigned way = 0; way < 64; ++way)
      found |= std::uint64_t(bytes[way] == std::byte(fingerprint)) << way;
    return found;
#endif
  }

  int find(std::byte* set, std::uint32_t line, std::uint32_t fingerprint) const {
    for (unsigned first = 0; first < ways_; first += 64)
      for (std::uint64_t ways = candidates(set + first, fingerprint); ways != 0; ways &= ways - 1) {
        const unsigned way = first + unsigned(std::countr_zero(ways));
        if (way < ways_ && *line_at(set, way) == line)
          return int(way);
      }
    return -1;
  }

  void touch(std::byte* set, unsigned way) const {
    std::uint8_t* head = byte(set, head_at_);
    if (*head == way)
      return;
    std::uint8_t* links = byte(set, links_at_);
    const auto join = [links](unsigned before, unsigned after) {
      links[2 * before + 1] = std::uint8_t(after);
      links[2 * after] = std::uint8_t(before);
    };
    join(links[2 * way], links[2 * way + 1]);
    join(links[2 * *head], way);
    join(way, *head);
    *head = std::uint8_t(way);
  }

  void clear(std::byte* set) const {
    for (unsigned way = 0; way < ways_; ++way) {
      *byte(set, links_at_ + 2 * way) = std::uint8_t((way + ways_ - 1) % ways_);
      *byte(set, links_at_ + 2 * way + 1) = std::uint8_t((way + 1) % ways_);
      *line_at(set, way) = no_line;
    }
  }

  std::uint32_t ways_, links_at_, lines_at_, states_at_, head_at_, set_bytes_;
  std::byte* memory_ = nullptr;
};

} // namespace warplens::model
