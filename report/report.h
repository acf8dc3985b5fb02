// Result to what a person or a tool reads.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::report {

struct TextOptions {
  bool colour = false;
  unsigned columns = 100;            ///< no line is wider; at least 80 are used
  std::filesystem::path source_root; ///< where relative file names are looked up if not in the current folder
};

/// The annotated source (files are looked up as the result names them, and below `source_root`), the most
/// expensive lines marked, a table of totals. Text from the result and the sources reaches the terminal with
/// its control characters made visible.
Expected<std::string> print_text(const Result& result, const TextOptions& options);

/// The result itself, indented, with a final newline. Bytes that are not UTF-8 become U+FFFD.
std::string print_json(const Result& result);

/// One row per site, RFC 4180. What was not observed is an empty field.
std::string print_csv(const Result& result);

} // namespace warplens::report
