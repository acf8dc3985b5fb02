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

struct SarifOptions {
  double threshold = 0.05; ///< lines below this share of their kernel's latency are left out
  std::string version;     ///< of Warplens
  std::filesystem::path source_root;
};

/// SARIF 2.1.0: a result for each finding on a line above the threshold.
std::string print_sarif(const Result& result, const SarifOptions& options);

struct PatchOptions {
  std::vector<const Column*> columns; ///< figures to say; empty: default_columns()
};

/// A unified diff that adds each line's figures as a comment behind it, which `patch -p0` and `git apply -p0`
/// take in the current folder. What the compiler sees stays the same, so lines with no room for a comment go
/// without; the diff's head names them. An error if none of the sources can be patched.
Expected<std::string> print_annotations(const Result& result, const PatchOptions& options);

/// The time-lapse as Chrome trace events (JSON), which Perfetto opens; 1 µs stands for one request. An error
/// if the result has no time-lapse.
Expected<std::string> print_perfetto(const Result& result);

struct LabelledResult {
  std::string label; ///< what the page calls it
  const Result* result;
};

struct PageOptions {
  std::string page;    ///< the HTML, with a line `<!-- warplens-data -->`
  std::string version; ///< of Warplens
  std::filesystem::path source_root;
};

/// The page with the results (one, or two to compare), what is said of their lines, and their sources in it.
Expected<std::string> print_page(const std::vector<LabelledResult>& results, const PageOptions& options);

} // namespace warplens::report
