// The formats of a result, one row each: the word of --format, its help, and the function that prints it.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <span>
#include <string>
#include <string_view>

namespace warplens::driver {

struct OutputOptions;

struct ReportFormat {
  std::string_view name, help;
  /// `label` is the result's name in a page.
  Expected<std::string> (*print)(const Result& result, const std::string& label,
                                 const OutputOptions& options);
  bool shows_timeline = false;          ///< the model makes a time-lapse even without --timeline
  bool is_page = false;                 ///< needs the report page, which a build without Node.js lacks
  bool takes_suggestions = false;       ///< names changes that were found to pay
  std::string_view figure_options = ""; ///< those of --columns, --sort and the like that it heeds
  std::string_view sort_figure = "";    ///< the one that --sort may name; empty: any
  bool has_identities = false;          ///< of kernels, which take a pass over the trace
};

std::span<const ReportFormat> report_formats();

/// Returns the format of this name, which has to exist.
const ReportFormat& report_format(std::string_view name);

} // namespace warplens::driver
