// A kernel's source with its sites' figures in a gutter.
#pragma once

#include "judge/costly_lines.h"
#include "report/report.h"
#include "support/terminal_text.h"

#include <vector>

namespace warplens::report {

/// Returns the width that `options` request, within the printable range.
std::size_t line_width(const TextOptions& options);

/// Returns properties that the default figures do not show: not a global load, bank conflicts. The text is
/// empty, or in parentheses after a blank.
std::string note_on(const SiteResult& site);

/// Prints for each file with sites the lines around them, with the columns that `options` name. `marked`
/// lines get a mark.
std::string print_annotated_source(const std::vector<judge::CostlyLine>& lines,
                                   const std::vector<const judge::CostlyLine*>& marked,
                                   const TextOptions& options);

} // namespace warplens::report
