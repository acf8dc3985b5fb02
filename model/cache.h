// A set-associative store of lines with LRU replacement, fast for any number of ways up to 256.
#pragma once

#include "model/divisor.h"
#include "model/gpu.h"
#include "model/narrow_sets.h"
#include "model/wide_sets.h"

#include <variant>

namespace warplens::model {

/// Which set a line belongs to.
class SetIndex {
public:
  SetIndex(std::uint32_t sets, IndexHash index)
      : fold_bits_(index == IndexHash::xor_fold ? unsigned(std::countr_zero(sets)) : 0),
        modulus_(sets >> fold_bits_) {}

  std::uint32_t operator()(std::uint32_t line) const {
    if (fold_bits_ == 0)
      return modulus_.remainder(line);
    return modulus_.remainder(line >> fold_bits_) << fold_bits_ | folded(line);
  }
  /// The same for loops, which the compiler may then make of several lines at once: calls work(find) with the
  /// function.
  template <class Work> void with_loop_form(Work&& work) const {
    const SetIndex index = *this; // a copy, which nothing that is written can change
    if (fold_bits_ == 0)
      work([index](std::uint32_t line) { return index.modulus_.remainder_in_loop(line); });
    else
      work([index](std::uint32_t line) {
        return index.modulus_.remainder_in_loop(line >> index.fold_bits_) << index.fold_bits_ |
               index.folded(line);
      });
  }

private:
  std::uint32_t folded(std::uint32_t line) const {
    const std::uint32_t low_mask = (1u << fold_bits_) - 1;
    const std::uint32_t high = line >> fold_bits_;
    return (line ^ high ^ high >> fold_bits_ ^ (2 * fold_bits_ < 32 ? high >> 2 * fold_bits_ : 0)) & low_mask;
  }

  unsigned fold_bits_; ///< the sets' number as modulus_ × 2^fold_bits_
  Divisor modulus_;
};

/// The lines of a cache, or of several of one size side by side, its parts. A copy is about the same lines.
template <class Sets, class Index = SetIndex> class Lines {
public:
  /// `sets` of each part.
  Lines(Index index, std::uint32_t sets, Sets of_lines)
      : index_(index), sets_per_part_(sets), sets_(of_lines) {}
  SetMemory make_memory(std::uint32_t parts) {
    SetMemory memory(sets_.bytes(parts * sets_per_part_));
    sets_.place_in(memory.begin(), parts * sets_per_part_);
    return memory;
  }
  void find_in(const SetMemory& memory) { sets_.find_in(memory.begin()); }

  /// Makes the line the most recently used one of its set, in place of the least recently used one if it was
  /// not there. `change` takes its state, 0 for a new one, and returns its new state. Before that, calls
  /// `displace(line, state)` with what is lost; of a hit the state is 0. Was it there?
  template <class Instructions, class Change, class Displace = Forgotten>
  bool access(std::uint32_t part, std::uint32_t line, Change&& change, Displace&& displace = {}) const {
    return access_in<Instructions>(set_of(part, line), line, change, displace);
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  LineState* peek(std::uint32_t part, std::uint32_t line) const {
    return sets_.peek(set_of(part, line), line);
  }

  // In two steps, for loops that look ahead.

  /// The number of the line's set. In the next part it is by sets_per_part() higher.
  std::uint32_t set_of(std::uint32_t part, std::uint32_t line) const {
    return part * sets_per_part_ + index_(line);
  }
  std::uint32_t sets_per_part() const { return sets_per_part_; }
  /// For loops: set_of(0, line) is find(line) in work(find).
  template <class Work> void with_set_index(Work&& work) const { index_.with_loop_form(work); }
  /// Asks the processor to fetch what an access to the set will need.
  void prefetch(std::uint32_t set) const { sets_.prefetch(set); }
  /// As access(), of a line in this set.
  template <class Instructions, class Change, class Displace = Forgotten>
  bool access_in(std::uint32_t set, std::uint32_t line, Change&& change, Displace&& displace = {}) const {
    return sets_.template access<Instructions>(set, line, change, displace);
  }

private:
  Index index_;
  std::uint32_t sets_per_part_;
  Sets sets_;
};

class Cache {
public:
  /// `ways` in [1, max_ways], `sets` at least 1, in each of the parts.
  Cache(std::uint32_t sets, std::uint32_t ways, IndexHash index, std::uint32_t parts = 1)
      : lines_(lines(sets, ways, index)),
        memory_(std::visit([&](auto& of_cache) { return of_cache.make_memory(parts); }, lines_)) {}
  Cache(const Cache& other) : lines_(other.lines_), memory_(other.memory_) {
    std::visit([&](auto& of_cache) { of_cache.find_in(memory_); }, lines_);
  }
  Cache(Cache&&) noexcept = default;

  /// Calls `work` with the Lines, whose type is that of its number of ways: loops over many accesses ask for
  /// it once. Not std::visit(), through which the compiler does not inline.
  template <class Work> decltype(auto) with_lines(Work&& work) const {
    switch (lines_.index()) {
    case 0: return work(*std::get_if<0>(&lines_));
    case 1: return work(*std::get_if<1>(&lines_));
    case 2: return work(*std::get_if<2>(&lines_));
    case 3: return work(*std::get_if<3>(&lines_));
    case 4: return work(*std::get_if<4>(&lines_));
    case 5: return work(*std::get_if<5>(&lines_));
    default: return work(*std::get_if<6>(&lines_));
    }
  }

private:
  // The ways that fit 16, 32, 64 and 128 bytes; eight, without the odd one, are compared faster. 64: the
  // C2050's L1 and L2.
  using AnyLines =
      std::variant<Lines<NarrowSets<2>>, Lines<NarrowSets<4>>, Lines<NarrowSets<8>>, Lines<NarrowSets<9>>,
                   Lines<NarrowSets<16>>, Lines<WideSets<64>>, Lines<WideSets<256>>>;
  static AnyLines lines(std::uint32_t sets, std::uint32_t ways, IndexHash index) {
    const SetIndex of(sets, index);
    if (ways <= 2)
      return Lines(of, sets, NarrowSets<2>(ways));
    if (ways <= 4)
      return Lines(of, sets, NarrowSets<4>(ways));
    if (ways <= 8)
      return Lines(of, sets, NarrowSets<8>(ways));
    if (ways <= 9)
      return Lines(of, sets, NarrowSets<9>(ways));
    if (ways <= 16)
      return Lines(of, sets, NarrowSets<16>(ways));
    if (ways <= 64)
      return Lines(of, sets, WideSets<64>(ways));
    return Lines(of, sets, WideSets<256>(ways));
  }

  AnyLines lines_;
  SetMemory memory_;
};

} // namespace warplens::model
