// The unified diff between two texts that correspond line by line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warplens {

/// Returns the unified diff in which line n of `before` became line n + `added_on_top` of `after`. `patch
/// -p0` and `git apply -p0` take it; it is empty if nothing differs.
std::string line_diff(const std::string& name, std::string_view before, std::string_view after,
                      std::size_t added_on_top = 0);

} // namespace warplens
