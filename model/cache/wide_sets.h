// Sets of many ways. Each way has a byte of hash and an age, which are compared all at once; a line's number
// and state are read only for the way that matches. So a lookup touches three lines of the host's cache, and
// a hit and a miss are the same steps, unless two lines have the same hash.
#pragma once

#include "model/cache/ages.h"
#include "model/cache/set_store.h"

#include <memory>

namespace warplens::model {

/// Sets of at most `way_capacity` (64 or 256) ways, in memory that the caller keeps.
template <unsigned way_capacity> class WideSets {
public:
  static constexpr std::uint32_t max_ways = way_capacity;

  explicit WideSets(std::uint32_t ways) : last_age_(ways - 1) {}

  std::size_t bytes(std::uint32_t sets) const { return sizeof(Set) * sets; }
  /// Uses memory that already holds sets of this kind.
  void find_in(std::byte* memory) { memory_ = memory; }
  /// Places empty sets in the memory.
  void place_in(std::byte* memory, std::uint32_t sets) {
    memory_ = memory;
    Set empty{};
    std::fill_n(empty.entries, way_capacity, Entry{no_line, 0});
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
    const unsigned way = set.ages.template choose<Instructions>(found, last_age_);
    set.ages.use(way);
    set.hashes[way] = hash_of(line);
    Entry& entry = set.entries[way];
    const auto before = LineState(entry.state & -unsigned(hit)); // 0 for a new line
    evict(entry.line, LineState(entry.state ^ before));
    entry.line = line;
    entry.state = change(before);
    return hit;
  }

  /// Returns the line's state, null if it is not cached; the LRU order stays.
  LineState* peek(std::uint32_t number, std::uint32_t line) const {
    Set& set = at(number);
    const WayBits<way_capacity> found = find<PlainInstructions>(set, line);
    return found.any() ? &set.entries[found.first()].state : nullptr;
  }

  /// Makes the line, if it is cached, the first that a new one replaces once all ways are in use.
  void make_oldest(std::uint32_t number, std::uint32_t line) const {
    Set& set = at(number);
    const WayBits<way_capacity> found = find<PlainInstructions>(set, line);
    if (found.any())
      model::make_oldest(set.ages, found.first(), last_age_,
                         [&](unsigned other) { return set.entries[other].line == no_line; });
  }

  void prefetch(std::uint32_t number) const {
    const auto* set = reinterpret_cast<const std::byte*>(&at(number));
    for (std::size_t at = 0; at < offsetof(Set, entries); at += 64)
      __builtin_prefetch(set + at, 1);
  }

private:
  struct Entry {
    std::uint32_t line;
    LineState state;
  };
  // Ways beyond those of the set hold a number that no line has, and stay the oldest.
  struct alignas(64) Set {
    std::uint8_t hashes[way_capacity];
    Ages<way_capacity> ages;
    Entry entries[way_capacity];
  };
  Set& at(std::uint32_t number) const { return reinterpret_cast<Set*>(memory_)[number]; }

  static std::uint8_t hash_of(std::uint32_t line) { return std::uint8_t(line * 0x9e37'79b1u >> 24); }

  /// Returns the way that holds the line, if there is one.
  template <class Instructions>
  [[gnu::always_inline]] static WayBits<way_capacity> find(const Set& set, std::uint32_t line) {
    WayBits<way_capacity> found;
    for (unsigned word = 0; word < found.words; ++word) {
      const std::uint64_t named = bytes_equal<Instructions>(set.hashes + 64 * word, hash_of(line));
      // In most cases one way at most matches; if none does, it does not matter whose line is compared.
      const Entry* const entries = set.entries + 64 * word;
      const auto first = unsigned(std::countr_zero(named)) % 64;
      found.of[word] = named & -named & -std::uint64_t{entries[first].line == line};
      if (const std::uint64_t others = named & (named - 1); others != 0) [[unlikely]]
        for (std::uint64_t left = others; left != 0; left &= left - 1)
          if (entries[std::countr_zero(left)].line == line)
            found.of[word] = left & -left;
    }
    return found;
  }

  std::uint32_t last_age_; ///< the oldest way's in a full set
  std::byte* memory_ = nullptr;
};

} // namespace warplens::model
