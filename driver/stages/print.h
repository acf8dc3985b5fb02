// Stage: result → the requested output.
#pragma once

#include "driver/options.h"
#include "report/report.h"
#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace warplens::driver {

/// Prints to stdout, or to the file of -o (written whole or not at all). `label` is the result's name in a
/// page.
Expected<void> print(const Result& result, const std::string& label, const OutputOptions& options);
/// Prints a page that compares the two, before and after.
Expected<void> print_comparison(const std::vector<report::LabelledResult>& results,
                                const OutputOptions& options);
/// Prints a report of `corun`, `power` or `clocks`, which is text or JSON, or for the format "html" the page
/// with that JSON.
Expected<void> print_report(const std::string& text_or_json, const std::string& format,
                            const OutputOptions& options);
/// Returns the look of text: colours and width as the terminal takes them, if the output is one.
report::TextOptions text_options(const OutputOptions& output);
/// Returns the page with the results, one or two to compare.
Expected<std::string> page_with(const std::vector<report::LabelledResult>& results);
/// Checks, before the work, that this build has the report page.
Expected<void> check_page();
/// Checks, before the work, that the files are there that the format needs.
Expected<void> check_format(const ReportFormat& format);
/// Checks that the file could be created or overwritten, and leaves it as it is. An empty name stands for
/// stdout.
Expected<void> check_writable(const std::filesystem::path& file);
/// Returns a report's JSON as text, with replacements for bytes that are not UTF-8.
std::string text_of_json(const nlohmann::ordered_json& json);
Expected<void> print_text(const std::string& text, const std::string& file);

} // namespace warplens::driver
