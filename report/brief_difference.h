// The difference of two results in at most 2 KB: whether the program became faster, and what changed on which
// lines.
#pragma once

#include "judge/speed_verdict.h"

#include <string>
#include <vector>

namespace warplens::report {

/// Returns a line for each kernel with its verdict, then one for each of the costliest accesses of which a
/// figure changed by more than its interval.
std::vector<std::string> lines_of_changes(const judge::Difference& difference,
                                          const judge::SpeedComparison& speed);

/// Prints the verdicts, then the costliest accesses of which a figure changed by more than its interval.
std::string print_brief_difference(const judge::Difference& difference, const judge::SpeedComparison& speed);

} // namespace warplens::report
