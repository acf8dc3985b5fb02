// A count of a snapshot's that stands for more, or fewer, than were seen.
#pragma once

#include <cmath>
#include <cstdint>

namespace warplens::model {

/// Returns the count times a factor, as a whole number.
inline std::uint64_t scaled(std::uint64_t count, double factor) {
  return std::uint64_t(std::llround(double(count) * factor));
}

} // namespace warplens::model
