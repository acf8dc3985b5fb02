// Division by an invariant number, by multiplication; it is exact for all 32-bit numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warplens {

__extension__ using Wide = unsigned __int128;

class Divisor {
public:
  /// `divisor` must be at least 1.
  explicit Divisor(std::uint32_t divisor)
      : divisor_(divisor), inverse_(divisor == 1 ? 0 : ~std::uint64_t{0} / divisor + 1) {
    const auto bits = unsigned(std::bit_width(divisor - 1)); // the minimum with divisor <= 2^bits
    const std::uint64_t beyond = (std::uint64_t{1} << bits) - divisor;
    multiplier_ = std::uint32_t((beyond << 32) / divisor + 1);
    first_shift_ = std::min(bits, 1u);
    second_shift_ = bits - first_shift_;
  }
  std::uint32_t value() const { return divisor_; }

  /// Returns n % d (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
  std::uint32_t remainder(std::uint32_t n) const {
    return std::uint32_t(static_cast<Wide>(inverse_ * n) * divisor_ >> 64); // correct for d = 1 as well
  }

  // The same for loops: the compiler vectorises numbers of at most 32 bits and their products (Granlund and
  // Montgomery, "Division by invariant integers using multiplication", 1994, figure 4.1).

  std::uint32_t quotient_in_loop(std::uint32_t n) const {
    const auto high = std::uint32_t(std::uint64_t{n} * multiplier_ >> 32);
    return (high + ((n - high) >> first_shift_)) >> second_shift_;
  }
  std::uint32_t remainder_in_loop(std::uint32_t n) const { return n - quotient_in_loop(n) * divisor_; }

private:
  std::uint32_t divisor_;
  std::uint64_t inverse_;
  std::uint32_t multiplier_;
  unsigned first_shift_, second_shift_;
};

} // namespace warplens
