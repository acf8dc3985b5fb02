// The states of a warp, one of which it is in in each cycle.
#pragma once

#include "vocabulary/access.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warplens {

/// The state of a resident warp in a cycle, under the names of NVIDIA's Nsight Compute (Kernel Profiling
/// Guide, "Warp Stall Reasons"): it issues (`selected`), or says why it does not. `ended`: it waits for other
/// warps of its block to end, for which that guide has no name.
enum class WarpState : std::uint8_t {
  selected,
  not_selected,
  wait,
  branch_resolving,
  long_scoreboard,
  short_scoreboard,
  barrier,
  math_pipe_throttle,
  lg_throttle,
  mio_throttle,
  tex_throttle,
  drain,
  ended
};
inline constexpr std::size_t warp_state_count = 13;
using ByState = std::array<double, warp_state_count>;

template <>
inline constexpr std::array<std::string_view, warp_state_count> names_of<WarpState>{"selected",
                                                                                    "not_selected",
                                                                                    "wait",
                                                                                    "branch_resolving",
                                                                                    "long_scoreboard",
                                                                                    "short_scoreboard",
                                                                                    "barrier",
                                                                                    "math_pipe_throttle",
                                                                                    "lg_throttle",
                                                                                    "mio_throttle",
                                                                                    "tex_throttle",
                                                                                    "drain",
                                                                                    "ended"};

} // namespace warplens
