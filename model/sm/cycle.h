// Time on an SM's clock.
#pragma once

#include <cstdint>
#include <limits>

namespace warplens::model {

/// Cycles of the SM's clock, from the launch on.
using Cycle = std::uint64_t;
inline constexpr Cycle never = Cycle(std::numeric_limits<std::int64_t>::max());

} // namespace warplens::model
