// Draws what a gate says as pictures (SVG), for the comment on a pull request and for a page of a repository.
#pragma once

#include "judge/gate.h"

#include <string>

namespace warplens::report {

/// Draws the kernels whose time was compared and is not the same: for each a bar for the recorded time and
/// one for the time now, both as multiples of the recorded time, with the 95 % interval of the change. At
/// most 20 kernels, in the order of the report; where none moved, the picture says so.
std::string draw_gate(const judge::Gate& gate);

/// Returns what a badge says, by GPU: "a100: 2 faster, 1 slower".
std::string badge_text(const judge::Gate& gate);

/// Draws the badge.
std::string draw_badge(const judge::Gate& gate);

/// Returns the badge as the JSON that shields.io draws one of ("endpoint").
std::string badge_endpoint(const judge::Gate& gate);

} // namespace warplens::report
