// A set-associative store of lines with LRU replacement, fast for 2 to 256 ways: one byte of hash per way,
// compared 64 at a time, finds the way; a ring of one-byte links keeps the order of use, so that a touch and
// a replacement cost the same for any number of ways.
#pragma once

#include "model/geometry.h"
#include "model/gpu.h"

#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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
  std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }

private:
  std::uint32_t divisor_;
  std::uint64_t inverse_;
};

class Cache {
public:
  /// What the cache keeps for each line besides its number; its meaning is the caller's, 0 at first.
  using State = std::uint16_t;

  struct Outcome {
    State* state = nullptr;
    bool hit = false;
    std::uint32_t evicted_line = none; ///< on a miss that displaced a line
    State evicted_state = 0;
  };
  static constexpr std::uint32_t none = 0xffff'ffff; ///< no line has this number

  /// `ways` in [1, max_ways], `sets` at least 1.
  Cache(std::uint32_t sets, std::uint32_t ways, IndexHash index)
      : ways_(ways), fold_bits_(index == IndexHash::xor_fold ? unsigned(std::countr_zero(sets)) : 0),
        modulus_(sets >> fold_bits_), links_at_(round_up(ways, 64)),
        lines_at_(round_up(links_at_ + 2 * ways, 4)), states_at_(lines_at_ + 4 * ways),
        head_at_(states_at_ + 2 * ways), set_bytes_(round_up(head_at_ + 1, 64)),
        memory_(new(std::align_val_t{64}) std::byte[std::size_t(set_bytes_) * sets]) {
    for (std::uint32_t set = 0; set < sets; ++set)
      clear(memory_.get() + std::size_t(set) * set_bytes_);
  }

  /// Makes the line the most recently used one of its set, in place of the least recently used one if it was
  /// not there.
  Outcome access(std::uint32_t line) {
    std::byte* set = set_of(line);
    const std::uint32_t fingerprint = fingerprint_of(line);
    const int way = find(set, line, fingerprint);
    if (way >= 0) {
      touch(set, unsigned(way));
      return {state(set, unsigned(way)), true};
    }
    std::uint8_t* head = byte(set, head_at_);
    const unsigned oldest = *byte(set, links_at_ + 2 * *head);
    *head = std::uint8_t(oldest); // the ring's oldest is next to its newest
    *byte(set, oldest) = std::uint8_t(fingerprint);
    Outcome outcome{state(set, oldest), false, *line_at(set, oldest), *state(set, oldest)};
    *line_at(set, oldest) = line;
    *outcome.state = 0;
    return outcome;
  }

  /// The line's state if it is there, which makes it the most recently used one of its set; otherwise null
  /// and nothing changes.
  State* use(std::uint32_t line) {
    std::byte* set = set_of(line);
    const int way = find(set, line, fingerprint_of(line));
    if (way < 0)
      return nullptr;
    touch(set, unsigned(way));
    return state(set, unsigned(way));
  }

  /// The line's state if it is there, otherwise null; nothing changes.
  State* peek(std::uint32_t line) {
    std::byte* set = set_of(line);
    const int way = find(set, line, fingerprint_of(line));
    return way < 0 ? nullptr : state(set, unsigned(way));
  }

  /// Asks the processor to fetch what access(line) will need.
  void prefetch(std::uint32_t line) const {
    const std::byte* set = set_of(line);
    for (std::uint32_t at = 0; at < set_bytes_; at += 64)
      __builtin_prefetch(set + at, 1);
  }

private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };

  // A set in memory: a byte of hash per way (padded to 64), the ring's links (previous, next), the line
  // numbers, the states, the ring's newest way.
  static constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  static std::uint8_t* byte(std::byte* set, std::uint32_t at) {
    return reinterpret_cast<std::uint8_t*>(set + at);
  }
  std::uint32_t* line_at(std::byte* set, unsigned way) const {
    return reinterpret_cast<std::uint32_t*>(set + lines_at_) + way;
  }
  State* state(std::byte* set, unsigned way) const {
    return reinterpret_cast<State*>(set + states_at_) + way;
  }

  static std::uint32_t fingerprint_of(std::uint32_t line) { return line * 0x9e37'79b1u >> 24; }

  std::byte* set_of(std::uint32_t line) const {
    const std::uint32_t low_mask = (1u << fold_bits_) - 1;
    const std::uint32_t high = line >> fold_bits_;
    std::uint32_t low = line & low_mask;
    if (fold_bits_ != 0)
      low ^= (high ^ high >> fold_bits_ ^ (2 * fold_bits_ < 32 ? high >> 2 * fold_bits_ : 0)) & low_mask;
    return memory_.get() + std::size_t(modulus_.remainder(high) << fold_bits_ | low) * set_bytes_;
  }

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
    std::memset(set, 0, set_bytes_);
    for (unsigned way = 0; way < ways_; ++way) {
      *byte(set, links_at_ + 2 * way) = std::uint8_t((way + ways_ - 1) % ways_);
      *byte(set, links_at_ + 2 * way + 1) = std::uint8_t((way + 1) % ways_);
      *line_at(set, way) = none;
    }
  }

  std::uint32_t ways_;
  unsigned fold_bits_; ///< the sets' number as modulus_ × 2^fold_bits_
  Divider modulus_;
  std::uint32_t links_at_, lines_at_, states_at_, head_at_, set_bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

} // namespace warplens::model
