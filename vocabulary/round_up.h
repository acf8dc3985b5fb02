// Rounding to multiples.
#pragma once

#include <concepts>
#include <type_traits>

namespace warplens {

/// Returns the smallest multiple of `unit` that is at least `value`; `value` itself if `unit` is 0.
template <std::unsigned_integral Number>
constexpr Number round_up(Number value, std::type_identity_t<Number> unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

} // namespace warplens
