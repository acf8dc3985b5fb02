// Random numbers by counter: a stream is a function of its name alone, so that trials do not depend on the
// thread and the time at which they run. Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include "numeric/divisor.h"

#include <Random123/philox.h>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace warplens {

/// The random stream of one trial of one launch.
class Random {
public:
  Random(std::uint64_t seed, std::uint32_t launch, std::uint32_t trial) {
    key_[0] = std::uint32_t(seed);
    key_[1] = std::uint32_t(seed >> 32);
    counter_[2] = launch;
    counter_[3] = trial;
  }

  std::uint32_t next() {
    if (left_ == 0) {
      drawn_ = r123::Philox4x32()(counter_, key_);
      if (++counter_[0] == 0)
        ++counter_[1];
      left_ = 4;
    }
    return drawn_[--left_];
  }

  /// Returns a uniform number in [0, bound). It multiplies instead of rejecting, with a bias below bound /
  /// 2^32.
  std::uint32_t below(std::uint32_t bound) { return std::uint32_t(std::uint64_t{next()} * bound >> 32); }

  /// Returns a separate stream of the same name, for draws that only some trials make: they leave this one as
  /// it is.
  Random beside() const {
    Random other = *this;
    other.counter_[0] = 0;
    other.counter_[1] = 1u << 31;
    other.left_ = 0;
    return other;
  }

  /// Returns a uniform number in [0, 1).
  double fraction() { return next() * 0x1p-32; }

private:
  r123::Philox4x32::ctr_type counter_{};
  r123::Philox4x32::key_type key_{};
  r123::Philox4x32::ctr_type drawn_{};
  unsigned left_ = 0;
};

/// Draws the many random numbers of a merge at a few cycles each, in a stream whose seed a Random draws:
/// xoroshiro128+ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021).
class FastRandom {
public:
  explicit FastRandom(Random& start) {
    for (std::uint64_t& word : state_) {
      // The two draws are in order here; as operands of an operator they would be in any order.
      const std::uint64_t high = start.next(), low = start.next();
      word = high << 32 | low;
    }
    state_[0] |= 1; // all zeros would stay so
  }

  /// Returns `count` uniform numbers, in [0, bound), in [0, bound − 1) and so on (Brackett-Rozinsky and
  /// Lemire, "Batched ranged random integer generation", 2024). The bias is below the product of all bounds /
  /// 2^64.
  template <std::size_t count> std::array<std::uint32_t, count> descending(std::uint32_t bound) {
    std::array<std::uint32_t, count> drawn;
    std::uint64_t left = next();
    for (std::uint32_t& one : drawn) {
      const Wide product = Wide{left} * bound--;
      one = std::uint32_t(product >> 64);
      left = std::uint64_t(product);
    }
    return drawn;
  }

  /// Returns 32 random bits.
  std::uint32_t bits() { return std::uint32_t(next() >> 32); }

private:
  std::uint64_t next() {
    const std::uint64_t a = state_[0], b = state_[1] ^ state_[0];
    const std::uint64_t drawn = a + state_[1];
    state_[0] = std::rotl(a, 24) ^ b ^ b << 16;
    state_[1] = std::rotl(b, 37);
    return drawn;
  }
  std::uint64_t state_[2];
};

} // namespace warplens
