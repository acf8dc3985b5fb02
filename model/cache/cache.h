// A set-associative store of lines with LRU replacement, fast for any number of ways up to 256.
#pragma once

#include "model/cache/narrow_sets.h"
#include "model/cache/wide_sets.h"
#include "model/gpu/gpu.h"
#include "model/gpu/slices.h"
#include "model/snapshot/set_aside.h"
#include "numeric/divisor.h"

#include <variant>

namespace warplens::model {

/// Maps a line to its set.
class SetIndex {
public:
  /// `neighbours`: as a power of two, lines that lie next to each other and share a set.
  SetIndex(std::uint32_t sets, IndexHash index, unsigned neighbours = 0)
      : neighbours_(neighbours),
        fold_bits_(index == IndexHash::xor_fold ? unsigned(std::countr_zero(sets)) : 0),
        modulus_(sets >> fold_bits_) {}
  /// Returns an index that puts one of each two groups of neighbours into the early sets, which have the
  /// lowest numbers, and one into the others; a hash decides which.
  static SetIndex with_halves(std::uint32_t early, std::uint32_t others, unsigned neighbours) {
    SetIndex index(others, IndexHash::modulo, neighbours);
    index.early_ = Divisor(early);
    index.early_sets_ = early;
    return index;
  }

  /// Returns an index that puts the lines that are kept into sets of their own, behind the `others` of this
  /// one.
  SetIndex with_set_aside(const SetAside& kept, std::uint32_t others, std::uint32_t sets) const {
    SetIndex index = *this;
    index.kept_ = kept;
    index.others_ = others;
    index.aside_ = Divisor(sets);
    return index;
  }

  std::uint32_t operator()(std::uint32_t line) const {
    if (kept_.lines != 0 && kept_.keeps(line))
      return set_aside_of(line);
    line >>= neighbours_;
    if (early_sets_ != 0)
      return is_early(line) ? early_.remainder(line >> 1) : early_sets_ + modulus_.remainder(line >> 1);
    if (fold_bits_ == 0)
      return modulus_.remainder(line);
    return modulus_.remainder(line >> fold_bits_) << fold_bits_ | folded(line);
  }
  /// Calls work(find) with a function that returns the line's set in a form that the compiler vectorises.
  template <class Work> void with_loop_form(Work&& work) const {
    const SetIndex index = *this; // a copy, which the compiler knows that no store changes
    if (kept_.lines != 0)
      work([index](std::uint32_t line) { return index(line); });
    else if (early_sets_ != 0)
      work([index](std::uint32_t line) {
        line >>= index.neighbours_;
        const std::uint32_t early = index.early_.remainder_in_loop(line >> 1);
        const std::uint32_t other = index.early_sets_ + index.modulus_.remainder_in_loop(line >> 1);
        return is_early(line) ? early : other;
      });
    else if (fold_bits_ == 0)
      work([index](std::uint32_t line) {
        return index.modulus_.remainder_in_loop(line >> index.neighbours_);
      });
    else
      work([index](std::uint32_t line) {
        line >>= index.neighbours_;
        return index.modulus_.remainder_in_loop(line >> index.fold_bits_) << index.fold_bits_ |
               index.folded(line);
      });
  }

private:
  std::uint32_t set_aside_of(std::uint32_t line) const {
    return others_ + aside_.remainder(line >> neighbours_);
  }
  static bool is_early(std::uint32_t group) { return ((mixed(group >> 1) ^ group) & 1) == 0; }
  std::uint32_t folded(std::uint32_t line) const {
    const std::uint32_t low_mask = (1u << fold_bits_) - 1;
    const std::uint32_t high = line >> fold_bits_;
    return (line ^ high ^ high >> fold_bits_ ^ (2 * fold_bits_ < 32 ? high >> 2 * fold_bits_ : 0)) & low_mask;
  }

  unsigned neighbours_;
  unsigned fold_bits_; ///< the number of sets is modulus_ × 2^fold_bits_
  Divisor modulus_;
  Divisor early_{1};
  std::uint32_t early_sets_ = 0; ///< 0: all sets are alike
  SetAside kept_;
  std::uint32_t others_ = 0; ///< sets of the lines that are not kept
  Divisor aside_{1};
};

/// The lines of a cache, or of several caches of one size side by side: its parts. A copy of the object
/// refers to the same lines.
template <class Sets, class Index = SetIndex> class Lines {
public:
  /// `sets` is the number of sets in each part.
  Lines(Index index, std::uint32_t sets, Sets set_store)
      : index_(index), sets_per_part_(sets), sets_(set_store) {}
  SetMemory make_memory(std::uint32_t parts) {
    SetMemory memory(sets_.bytes(parts * sets_per_part_));
    sets_.place_in(memory.begin(), parts * sets_per_part_);
    return memory;
  }
  void find_in(const SetMemory& memory) { sets_.find_in(memory.begin()); }

  /// Makes the line the most recently used one of its set, where a new line replaces the least recently used
  /// one. Calls `evict(victim, state)` first, on a hit with the state 0; then `change` takes the line's
  /// state, 0 for a new one, and returns its new state. Returns whether the line hit.
  template <class Instructions, class Change, class Evict = DiscardVictim>
  [[gnu::always_inline]] bool access(std::uint32_t part, std::uint32_t line, Change&& change,
                                     Evict&& evict = {}) const {
    return access_in<Instructions>(set_of(part, line), line, change, evict);
  }

  /// Returns the line's state, null if it is not cached; the LRU order stays.
  LineState* peek(std::uint32_t part, std::uint32_t line) const {
    return sets_.peek(set_of(part, line), line);
  }

  /// Makes the line the least recently used one of its set, if it is cached.
  void make_oldest(std::uint32_t part, std::uint32_t line) const {
    sets_.make_oldest(set_of(part, line), line);
  }

  // The same in two steps, for loops that look ahead.

  /// Returns the number of the line's set. In the next part it is higher by sets_per_part().
  std::uint32_t set_of(std::uint32_t part, std::uint32_t line) const {
    return part * sets_per_part_ + index_(line);
  }
  std::uint32_t sets_per_part() const { return sets_per_part_; }
  /// Calls work(find), for loops, with a function find(line) that returns set_of(0, line).
  template <class Work> void with_set_index(Work&& work) const { index_.with_loop_form(work); }
  /// Prefetches the set into the host's cache.
  void prefetch(std::uint32_t set) const { sets_.prefetch(set); }
  /// Does what access() does, for a line in this set.
  template <class Instructions, class Change, class Evict = DiscardVictim>
  [[gnu::always_inline]] bool access_in(std::uint32_t set, std::uint32_t line, Change&& change,
                                        Evict&& evict = {}) const {
    return sets_.template access<Instructions>(set, line, change, evict);
  }

private:
  Index index_;
  std::uint32_t sets_per_part_;
  Sets sets_;
};

/// A cache whose number of ways is known at run time only. `Sets` are those that it chooses from, the ones of
/// fewest ways first: loops are compiled for each of them.
template <class... Sets> class CacheOf {
public:
  /// `ways` must be in [1, max_ways], `sets` at least 1 in each of the parts.
  CacheOf(std::uint32_t sets, std::uint32_t ways, IndexHash index, std::uint32_t parts = 1,
          unsigned neighbours = 0)
      : CacheOf(SetIndex(sets, index, neighbours), sets, ways, parts) {}
  /// `sets` are those to which `index` maps lines.
  CacheOf(const SetIndex& index, std::uint32_t sets, std::uint32_t ways, std::uint32_t parts = 1)
      : lines_(lines<Sets...>(sets, ways, index)),
        memory_(std::visit([&](auto& cached_lines) { return cached_lines.make_memory(parts); }, lines_)) {}
  CacheOf(const CacheOf& other) : lines_(other.lines_), memory_(other.memory_) {
    std::visit([&](auto& cached_lines) { cached_lines.find_in(memory_); }, lines_);
  }
  CacheOf(CacheOf&&) noexcept = default;

  /// Calls `work` with the Lines, whose type depends on the number of ways: loops over many accesses call
  /// this once. It does not use std::visit(), through which the compiler does not inline.
  template <class Work> decltype(auto) with_lines(Work&& work) const { return with_lines_from<0>(work); }

  /// Returns the Lines, which are of this type.
  template <class OfThisType> const OfThisType& lines_as() const { return std::get<OfThisType>(lines_); }

private:
  using AnyLines = std::variant<Lines<Sets>...>;
  template <std::size_t index, class Work> decltype(auto) with_lines_from(Work& work) const {
    if constexpr (index + 1 < sizeof...(Sets))
      if (lines_.index() != index)
        return with_lines_from<index + 1>(work);
    return work(*std::get_if<index>(&lines_));
  }
  template <class First, class... Others>
  static AnyLines lines(std::uint32_t sets, std::uint32_t ways, const SetIndex& of) {
    if constexpr (sizeof...(Others) != 0)
      if (ways > First::max_ways)
        return lines<Others...>(sets, ways, of);
    return Lines(of, sets, First(ways));
  }

  AnyLines lines_;
  SetMemory memory_;
};

// The capacities fill 16, 32, 64 and 128 bytes; eight ways, without the odd one, are compared faster. The
// C2050's L1 and L2 have 64.
using Cache = CacheOf<NarrowSets<2>, NarrowSets<4>, NarrowSets<8>, NarrowSets<9>, NarrowSets<16>,
                      WideSets<64>, WideSets<256>>;
/// An L1 or L2, without those that no known one needs: the compiler takes seconds for each of their loops.
using L1Cache =
    CacheOf<NarrowSets<2>, NarrowSets<4>, NarrowSets<8>, NarrowSets<16>, WideSets<64>, WideSets<256>>;
using L2Cache = CacheOf<NarrowSets<9>, NarrowSets<16>, WideSets<64>, WideSets<256>>;

} // namespace warplens::model
