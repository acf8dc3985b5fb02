// A set-associative store of lines with LRU replacement, fast for any number of ways up to 256.
#pragma once

#include "model/gpu.h"
#include "model/narrow_sets.h"
#include "model/wide_sets.h"

#include <variant>

namespace warplens::model {

__extension__ using Wide = unsigned __int128;

/// n / d and n % d for a d that stays, by multiplication (Lemire, Kaser and Kurz, "Faster remainder by direct
/// computation", 2019). Exact for all 32-bit n and d.
class Divider {
public:
  explicit Divider(std::uint32_t divisor)
      : divisor_(divisor), inverse_(divisor == 1 ? 0 : ~std::uint64_t{0} / divisor + 1) {}
  std::uint32_t quotient(std::uint32_t n) const {
    return divisor_ == 1 ? n : std::uint32_t(static_cast<Wide>(inverse_) * n >> 64);
  }
  std::uint32_t divisor() const { return divisor_; }
  std::uint32_t remainder(std::uint32_t n) const {
    return std::uint32_t(static_cast<Wide>(inverse_ * n) * divisor_ >> 64); // for 1 as well
  }

private:
  std::uint32_t divisor_;
  std::uint64_t inverse_;
};

/// Which set a line belongs to.
class SetIndex {
public:
  SetIndex(std::uint32_t sets, IndexHash index)
      : fold_bits_(index == IndexHash::xor_fold ? unsigned(std::countr_zero(sets)) : 0),
        modulus_(sets >> fold_bits_) {}

  std::uint32_t operator()(std::uint32_t line) const {
    if (fold_bits_ == 0)
      return modulus_.remainder(line);
    const std::uint32_t low_mask = (1u << fold_bits_) - 1;
    const std::uint32_t high = line >> fold_bits_;
    const std::uint32_t folded =
        line ^ high ^ high >> fold_bits_ ^ (2 * fold_bits_ < 32 ? high >> 2 * fold_bits_ : 0);
    return modulus_.remainder(high) << fold_bits_ | (folded & low_mask);
  }

private:
  unsigned fold_bits_; ///< the sets' number as modulus_ × 2^fold_bits_
  Divider modulus_;
};

/// The lines of a cache, or of several of one size side by side, its parts. A copy is about the same lines.
template <class Sets> class Lines {
public:
  Lines(std::uint32_t sets, std::uint32_t ways, IndexHash index)
      : index_(sets, index), sets_per_part_(sets), sets_(ways) {}
  SetMemory make_memory(std::uint32_t parts) {
    SetMemory memory(sets_.bytes(parts * sets_per_part_));
    sets_.place_in(memory.begin(), parts * sets_per_part_);
    return memory;
  }
  void find_in(const SetMemory& memory) { sets_.find_in(memory.begin()); }

  /// Makes the line the most recently used one of its set, in place of the least recently used one if it was
  /// not there. `change` takes its state, 0 for a new one, and returns its new state.
  template <class Instructions, class Change>
  SetOutcome access(std::uint32_t part, std::uint32_t line, Change&& change) const {
    return sets_.template access<Instructions>(set_of(part, line), line, change);
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  LineState* peek(std::uint32_t part, std::uint32_t line) const {
    return sets_.peek(set_of(part, line), line);
  }

  /// Asks the processor to fetch what access(part, line) will need.
  void prefetch(std::uint32_t part, std::uint32_t line) const { sets_.prefetch(set_of(part, line)); }

private:
  std::uint32_t set_of(std::uint32_t part, std::uint32_t line) const {
    return part * sets_per_part_ + index_(line);
  }

  SetIndex index_;
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
    default: return work(*std::get_if<3>(&lines_));
    }
  }

private:
  using AnyLines =
      std::variant<Lines<NarrowSets<4>>, Lines<NarrowSets<8>>, Lines<NarrowSets<16>>, Lines<WideSets>>;
  static AnyLines lines(std::uint32_t sets, std::uint32_t ways, IndexHash index) {
    if (ways <= 4)
      return Lines<NarrowSets<4>>(sets, ways, index);
    if (ways <= 8)
      return Lines<NarrowSets<8>>(sets, ways, index);
    if (ways <= 16)
      return Lines<NarrowSets<16>>(sets, ways, index);
    return Lines<WideSets>(sets, ways, index);
  }

  AnyLines lines_;
  SetMemory memory_;
};

} // namespace warplens::model
