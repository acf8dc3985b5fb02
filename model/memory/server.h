// A server with a queue: what reaches it is served one after the other, in the order of arrival.
#pragma once

#include "model/sm/cycle.h"

#include <algorithm>
#include <cmath>

namespace warplens::model {

/// Parts of a cycle, in which times of service are counted: rates are rarely whole numbers per cycle.
using Ticks = std::uint64_t;
inline constexpr Ticks ticks_per_cycle = 256;

inline Ticks ticks(double cycles) {
  return Ticks(std::llround(cycles * double(ticks_per_cycle)));
}
/// Returns the first cycle that is not before this time.
inline Cycle cycle_after(Ticks time) {
  return (time + ticks_per_cycle - 1) / ticks_per_cycle;
}

class Server {
public:
  /// Returns when it would begin with what arrives then.
  Ticks start(Ticks arrival) const { return std::max(arrival, free_at_); }
  /// Serves what arrives then for `service`, and returns when that begins.
  Ticks serve(Ticks arrival, Ticks service) {
    const Ticks begin = start(arrival);
    free_at_ = begin + service;
    busy_ += service;
    return begin;
  }
  Ticks busy() const { return busy_; } ///< in all

private:
  Ticks free_at_ = 0, busy_ = 0;
};

} // namespace warplens::model
