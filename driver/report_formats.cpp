#include "driver/report_formats.h"

#include "driver/options.h"
#include "driver/stages/print.h"
#include "report/brief.h"
#include "report/report.h"
#include "toolchain/version.h"

#include <algorithm>

namespace warplens::driver {
namespace {

using Text = Expected<std::string>;

constexpr ReportFormat formats[] = {
    {"text", "annotated source",
     [](const Result& result, const std::string&, const OutputOptions& options) -> Text {
       return report::print_text(result, text_options(options));
     },
     false, false, false, "--columns --sort --no-source --width"},
    {"brief", "what matters, in at most 2 KB",
     [](const Result& result, const std::string&, const OutputOptions& options) -> Text {
       return report::print_brief_text(result, options.suggestions);
     },
     false, false, true},
    {"brief-json", "the same: warplens-brief/1",
     [](const Result& result, const std::string&, const OutputOptions& options) -> Text {
       return report::print_brief_json(result, options.suggestions);
     },
     false, false, true},
    {"html", "a page to open in a browser",
     [](const Result& result, const std::string& label, const OutputOptions&) {
       return page_with({{label, &result}});
     },
     true, true},
    {"json", "warplens-result/1",
     [](const Result& result, const std::string&, const OutputOptions&) -> Text {
       return report::print_json(result);
     },
     false, false, false, "", "", true},
    {"csv", "a row per site",
     [](const Result& result, const std::string&, const OutputOptions&) -> Text {
       return report::print_csv(result);
     }},
    {"sass", "the machine code, a line per instruction",
     [](const Result& result, const std::string&, const OutputOptions& options) -> Text {
       return report::print_sass(result, text_options(options));
     },
     false, false, false, "--sort --width", "time"},
    {"sass-csv", "a row per machine instruction",
     [](const Result& result, const std::string&, const OutputOptions& options) -> Text {
       return report::print_sass_csv(result, options.sort != nullptr);
     },
     false, false, false, "--sort", "time"},
    {"sarif", "findings on costly lines, for code review",
     [](const Result& result, const std::string&, const OutputOptions& options) -> Text {
       return report::print_sarif(result, {options.threshold, toolchain::version, {}});
     },
     false, false, false, "--threshold"},
    {"patch", "the source with its figures as comments",
     [](const Result& result, const std::string&, const OutputOptions& options) {
       return report::print_annotated_diff(result, {options.columns});
     },
     false, false, false, "--columns"},
    {"perfetto", "the time-lapse, for ui.perfetto.dev",
     [](const Result& result, const std::string&, const OutputOptions&) {
       return report::print_perfetto(result);
     },
     true},
};

} // namespace

std::span<const ReportFormat> report_formats() {
  return formats;
}

const ReportFormat& report_format(std::string_view name) {
  return *std::ranges::find(formats, name, &ReportFormat::name);
}

} // namespace warplens::driver
