// A kernel's source with its sites' figures in a gutter.
#pragma once

#include "report/report.h"
#include "report/terminal_text.h"

#include <map>
#include <vector>

namespace warplens::report {

/// The sites of one source line, by column, and their cost together.
struct CostlyLine {
  std::string file;
  std::uint32_t line = 0;
  std::vector<const SiteResult*> sites;
  std::optional<double> share; ///< of the kernel's time or latency (cost_column): sum over the sites with one
};

/// Returns all lines with sites, the most expensive file first, by line within a file.
std::vector<CostlyLine> lines_of(const KernelResult& kernel);

/// Returns the lines with the largest shares, the most expensive first: at most `count`, and none but
/// the first below 1 %.
std::vector<const CostlyLine*> most_expensive(const std::vector<CostlyLine>& lines, std::size_t count);

/// Returns the width that `options` request, within the printable range.
std::size_t line_width(const TextOptions& options);

/// Returns properties that the default figures do not show: not a global load, bank conflicts. The text is
/// empty, or in parentheses after a blank.
std::string note_on(const SiteResult& site);

/// Prints for each file with sites the lines around them, with the columns that `options` name. `marked`
/// lines get a mark.
std::string print_annotated_source(const std::vector<CostlyLine>& lines,
                                   const std::vector<const CostlyLine*>& marked, const TextOptions& options);

} // namespace warplens::report
