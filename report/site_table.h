// A kernel's sites as a table, the most notable first.
#pragma once

#include "report/report.h"

namespace warplens::report {

/// Prints one line per site, ordered by `options.sort`; sites without that figure are last.
std::string print_site_table(const KernelResult& kernel, const TextOptions& options);

/// Prints a line per site for grep and editors, "FILE:LINE:COLUMN: EXPRESSION: FIGURES [KERNEL on GPU]",
/// ordered by `options.sort`, or else by cost. A figure that was not observed is left out.
std::string print_site_lines(const KernelResult& kernel, const TextOptions& options);

} // namespace warplens::report
