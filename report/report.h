// Result to what a person or a tool reads.
#pragma once

#include "report/columns.h"
#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::report {

struct TextOptions {
  bool colour = false;
  unsigned width = 100;               ///< no line is wider; at least 80 are used
  std::vector<const Column*> columns; ///< figures in the gutter; empty: default_columns()
  const Column* sort = nullptr; ///< sites by this figure, the largest first; null: in the order of the source
  std::filesystem::path source_root; ///< where relative file names are looked up if not in the current folder
};

/// Per kernel and GPU the totals, the annotated source (files are looked up as the result names them, and
/// below `source_root`) or the sorted table of sites, and what to look at first. Text from the result and the
/// sources reaches the terminal with its control characters made visible.
std::string print_text(const Result& result, const TextOptions& options);

/// The result itself, indented, with a final newline. Bytes that are not UTF-8 become U+FFFD.
std::string print_json(const Result& result);

/// One row per site, RFC 4180. What was not observed is an empty field.
std::string print_csv(const Result& result);

} // namespace warplens::report
