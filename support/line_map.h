// Finds the lines that an edit of a text left alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

/// Returns for each line of `before` its place in `after`, both from 0 on, or nothing where it was changed or
/// removed. Lines that each text has once are matched first (patience diff), then what lies between them by
/// the shortest edit (Myers, "An O(ND) Difference Algorithm", 1986). Between two matched lines, more than
/// 1000 removed and added ones count as changed altogether.
std::vector<std::optional<std::size_t>> unchanged_lines(const std::vector<std::string>& before,
                                                        const std::vector<std::string>& after);

} // namespace warplens
