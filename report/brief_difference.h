// The difference of two results in at most 2 KB: whether the program became faster, and what changed on which
// lines.
#pragma once

#include "document/document.h"
#include "judge/speed_verdict.h"

#include <string>
#include <vector>

namespace warplens::report {

/// Returns the verdict on each kernel.
std::vector<document::Finding> verdicts_on_kernels(const judge::Difference& difference,
                                                   const judge::SpeedComparison& speed);

/// Returns the accesses of which a figure changed by more than its interval, the costliest first.
std::vector<document::Finding> changed_accesses(const judge::Difference& difference);

/// Prints the verdicts, then the costliest accesses of which a figure changed by more than its interval.
std::string print_brief_difference(const judge::Difference& difference, const judge::SpeedComparison& speed);

} // namespace warplens::report
