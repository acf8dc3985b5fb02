// A set-associative store of lines with LRU replacement, fast for any number of ways up to 256.
#pragma once

#include "model/gpu.h"
#include "model/narrow_sets.h"
#include "model/wide_sets.h"

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
  std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }

private:
  std::uint32_t divisor_;
  std::uint64_t inverse_;
};

class Cache {
public:
  using State = LineState;
  using Outcome = SetOutcome;

  /// `ways` in [1, max_ways], `sets` at least 1.
  Cache(std::uint32_t sets, std::uint32_t ways, IndexHash index)
      : fold_bits_(index == IndexHash::xor_fold ? unsigned(std::countr_zero(sets)) : 0),
        modulus_(sets >> fold_bits_), is_narrow_(ways <= NarrowSets::max_ways),
        narrow_(is_narrow_ ? sets : 0, ways), wide_(is_narrow_ ? 0 : sets, ways) {}

  /// Makes the line the most recently used one of its set, in place of the least recently used one if it was
  /// not there.
  [[gnu::always_inline]] Outcome access(std::uint32_t line) {
    return is_narrow_ ? narrow_.access(set_of(line), line) : wide_.access(set_of(line), line);
  }

  /// The line's state if it is there, which makes it the most recently used one of its set; otherwise null
  /// and nothing changes.
  State* use(std::uint32_t line) {
    return is_narrow_ ? narrow_.use(set_of(line), line) : wide_.use(set_of(line), line);
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  State* peek(std::uint32_t line) {
    return is_narrow_ ? narrow_.peek(set_of(line), line) : wide_.peek(set_of(line), line);
  }

  /// Asks the processor to fetch what access(line) will need.
  void prefetch(std::uint32_t line) const {
    if (is_narrow_)
      narrow_.prefetch(set_of(line));
    else
      wide_.prefetch(set_of(line));
  }

private:
  std::uint32_t set_of(std::uint32_t line) const {
    if (fold_bits_ == 0)
      return modulus_.remainder(line);
    const std::uint32_t low_mask = (1u << fold_bits_) - 1;
    const std::uint32_t high = line >> fold_bits_;
    const std::uint32_t folded =
        line ^ high ^ high >> fold_bits_ ^ (2 * fold_bits_ < 32 ? high >> 2 * fold_bits_ : 0);
    return modulus_.remainder(high) << fold_bits_ | (folded & low_mask);
  }

  unsigned fold_bits_; ///< the sets' number as modulus_ × 2^fold_bits_
  Divider modulus_;
  bool is_narrow_; ///< which of the two holds the lines; the other one is empty
  NarrowSets narrow_;
  WideSets wide_;
};

} // namespace warplens::model
