// The states of a kernel's warps, in words and for a terminal.
#pragma once

#include "result/result.h"

#include <optional>
#include <string>

namespace warplens::report {

/// Returns what warps do, the most of their time first, as percentages of all: "long_scoreboard 62, wait
/// 9.0"; what takes less than a hundredth is left out.
std::string text_of_states(const ByState& states);

/// The state that most warps are in which are at a line and do not issue.
struct Stall {
  WarpState state;
  double share; ///< of the time of all the kernel's warps
};

/// Returns the line's main stall; nothing if no warp waits there, or that is not known.
std::optional<Stall> main_stall_at(const std::string& file, std::uint32_t line, const KernelResult& kernel);

/// Returns the lines at which warps spend most of their time, with what they do there, in that number of
/// columns; empty if there are none.
std::string print_warp_time(const KernelResult& kernel, std::size_t width);

} // namespace warplens::report
