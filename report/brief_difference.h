// The difference of two results in at most 2 KB: whether the program became faster, and what changed on which
// lines.
#pragma once

#include "report/speed_verdict.h"

#include <string>

namespace warplens::report {

/// Prints the verdicts, then the costliest accesses of which a figure changed by more than its interval.
std::string print_brief_difference(const Difference& difference, const SpeedComparison& speed);

} // namespace warplens::report
