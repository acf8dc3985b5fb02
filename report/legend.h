// Explains once, at the end of a text report, what its figures are of.
#pragma once

#include "report/report.h"

#include <string>

namespace warplens::report {

/// Returns the legend of what the report of the result shows, in lines of at most `width` columns; empty if
/// there is nothing to explain.
std::string print_legend(const Result& result, const TextOptions& options, std::size_t width);

} // namespace warplens::report
