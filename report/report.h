// Prints a result for a person or a tool, one function per format.
#pragma once

#include "report/columns.h"
#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::report {

struct TextOptions {
  bool colour = false;
  unsigned width = 100;               ///< the maximum line width; at least 80 columns are used
  std::vector<const Column*> columns; ///< figures in the gutter; empty: default_columns()
  const Column* sort =
      nullptr;        ///< sorts sites by this figure, the largest first; null: in the order of the source
  bool source = true; ///< false: one line per access and nothing else, which begins with its place
  std::filesystem::path
      source_root; ///< the folder for relative file names that are not in the current folder
};

/// Prints per kernel and GPU the totals, the annotated source (files are looked up as the result names them,
/// and below `source_root`) or the sorted table of sites, and the lines to look at first; or the lines of
/// print_site_lines(). Text from the
/// result and the sources reaches the terminal with its control characters made visible.
std::string print_text(const Result& result, const TextOptions& options);

/// Prints the result itself, indented, with a final newline. Bytes that are not UTF-8 become U+FFFD.
std::string print_json(const Result& result);

/// Prints one row per site, RFC 4180; the heading has the units. An unobserved figure is an empty field.
std::string print_csv(const Result& result);

/// Prints the machine code of each kernel, a line per instruction with what warps do there: by function and
/// address, or with `options.sort`, whichever it is, by its part of the warps' time.
std::string print_sass(const Result& result, const TextOptions& options);

/// Prints one row per machine instruction and kernel, in the same order. A figure that is not known is an
/// empty field.
std::string print_sass_csv(const Result& result, bool by_time);

struct SarifOptions {
  double threshold = 0.05; ///< accesses below this share of their kernel's time (or latency) are left out
  std::string version;     ///< the version of Warplens
  std::filesystem::path source_root;
};

/// Prints SARIF 2.1.0: a result for each finding on a kernel, at its costliest line, and on an access above
/// the threshold.
std::string print_sarif(const Result& result, const SarifOptions& options);

struct AnnotatedDiffOptions {
  std::vector<const Column*> columns; ///< figures to print; empty: default_columns()
};

/// Prints the annotated diff: a unified diff that adds each line's figures as a comment behind it, which
/// `patch -p0` and `git apply -p0` take in the current folder. The comments do not change the compiler's
/// view, so lines with no room for one go without; the diff's head names them. It is an error if none of the
/// sources can be annotated.
Expected<std::string> print_annotated_diff(const Result& result, const AnnotatedDiffOptions& options);

/// Prints the time-lapse as Chrome trace events (JSON), which Perfetto opens, in time by the SM clock. It
/// is an error if the result has no time-lapse.
Expected<std::string> print_perfetto(const Result& result);

struct LabelledResult {
  std::string label; ///< the result's name in the page
  const Result* result;
};

struct PageOptions {
  std::string page;    ///< the HTML, with a line `<!-- warplens-data -->`
  std::string version; ///< the version of Warplens
  std::filesystem::path source_root;
  /// An analysis of many runs (warplens-significance/1) for the view Why; null: none.
  const nlohmann::ordered_json* significance = nullptr;
  /// A report of `corun`, `power` or `clocks` in place of results, with the sources that it names; null:
  /// none.
  const nlohmann::ordered_json* sharing = nullptr;
  /// Measured figures beside the modelled ones (warplens-comparison/1), for one result; null: nothing.
  const nlohmann::ordered_json* measured = nullptr;
};

/// Prints the page with the results (one, or two to compare), the verdicts on their lines, and their sources
/// in it.
Expected<std::string> print_page(const std::vector<LabelledResult>& results, const PageOptions& options);

} // namespace warplens::report
