// Sets of many ways. A byte of hash and an age for each way are compared all at once; a line's number and its
// state are looked at for the way that they name. So a lookup touches three lines of the host's cache, and a
// hit and a miss are the same steps, but for two lines of one hash.
#pragma once

#include "model/ages.h"
#include "model/set_store.h"

#include <memory>

namespace warplens::model {

/// Sets of at most `most_ways` (64 or 256) ways, in memory that someone else keeps.
template <unsigned most_ways> class WideSets {
public:
  explicit WideSets(std::uint32_t ways) : last_age_(ways - 1) {}

  std::size_t bytes(std::uint32_t sets) const { return sizeof(Set) * sets; }
  /// The memory already holds sets of this kind.
  void find_in(std::byte* memory) { memory_ = memory; }
  void place_in(std::byte* memory, std::uint32_t sets) {
    memory_ = memory;
    Set empty{};
    std::fill_n(empty.entries, most_ways, Entry{no_line, 0});
    empty.ages.begin();
    std::uninitialized_fill_n(&at(0), sets, empty);
  }

  /// Makes the line the one of its set used last, in place of the one not used for longest if it was not
  /// there. `change` takes its state, 0 for a new one, and returns its new state. Before that, calls
  /// `displace(line, state)` with what is lost; of a hit the state is 0. Was it there?
  template <class Instructions, class Change, class Displace = Forgotten>
  bool access(std::uint32_t number, std::uint32_t line, Change&& change, Displace&& displace = {}) const {
    Set& set = at(number);
    const WayBits<most_ways> found = find<Instructions>(set, line);
    const bool hit = found.any();
    const unsigned way = set.ages.template choose<Instructions>(found, last_age_);
    set.ages.use(way);
    set.hashes[way] = hash_of(line);
    Entry& entry = set.entries[way];
    const auto before = LineState(entry.state & -unsigned(hit)); // of a new line 0
    displace(entry.line, LineState(entry.state ^ before));
    entry.line = line;
    entry.state = change(before);
    return hit;
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  LineState* peek(std::uint32_t number, std::uint32_t line) const {
    Set& set = at(number);
    const WayBits<most_ways> found = find<PlainInstructions>(set, line);
    return found.any() ? &set.entries[found.first()].state : nullptr;
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
  // Where there are fewer ways, the others' lines have a number that no line has, and they stay the oldest.
  struct alignas(64) Set {
    std::uint8_t hashes[most_ways];
    Ages<most_ways> ages;
    Entry entries[most_ways];
  };
  Set& at(std::uint32_t number) const { return reinterpret_cast<Set*>(memory_)[number]; }

  static std::uint8_t hash_of(std::uint32_t line) { return std::uint8_t(line * 0x9e37'79b1u >> 24); }

  /// The way that holds the line, if there is one.
  template <class Instructions> static WayBits<most_ways> find(const Set& set, std::uint32_t line) {
    WayBits<most_ways> found;
    for (unsigned word = 0; word < found.words; ++word) {
      const std::uint64_t named = bytes_equal<Instructions>(set.hashes + 64 * word, hash_of(line));
      // One at most, in most cases: of none, it does not matter which way's line is looked at.
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

  std::uint32_t last_age_; ///< of the ways that there are
  std::byte* memory_ = nullptr;
};

} // namespace warplens::model
