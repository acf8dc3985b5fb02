// Atomic operations and reductions, as functions of the number in memory and of another one.
#pragma once

#include "sass/operands.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace warplens::machine {

/// Sums of signed numbers wrap around.
template <class Number> Number combine_integers(sass::AtomicOperation operation, Number old, Number value) {
  using enum sass::AtomicOperation;
  switch (operation) {
  case add: return Number(std::make_unsigned_t<Number>(old) + std::make_unsigned_t<Number>(value));
  case min: return std::min(old, value);
  case max: return std::max(old, value);
  case inc: return old >= value ? Number(0) : Number(old + 1);
  case dec: return old == 0 || old > value ? value : Number(old - 1);
  case and_: return old & value;
  case or_: return old | value;
  case xor_: return old ^ value;
  case exch: return value;
  }
  return value;
}

/// The extremes of a number and a NaN are the number.
template <class Number> Number combine_floats(sass::AtomicOperation operation, Number old, Number value) {
  using enum sass::AtomicOperation;
  switch (operation) {
  case add: return old + value;
  case min: return old != old ? value : value != value ? old : std::fmin(old, value);
  case max: return old != old ? value : value != value ? old : std::fmax(old, value);
  default: return value;
  }
}

} // namespace warplens::machine
