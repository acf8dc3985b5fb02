// A kernel's sites as a table, the most notable first.
#pragma once

#include "report/report.h"

namespace warplens::report {

/// Prints one line per site, ordered by `options.sort`; sites without that figure are last.
std::string print_site_table(const KernelResult& kernel, const TextOptions& options);

} // namespace warplens::report
