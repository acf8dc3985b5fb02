#include "driver/stages/print.h"

#include "driver/stages/open_page.h"
#include "report/report.h"
#include "support/files.h"
#include "toolchain/resources.h"
#include "toolchain/version.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

namespace warplens::driver {
namespace {

Expected<void> print_text(const Expected<std::string>& text, const std::string& file) {
  return text ? driver::print_text(*text, file) : tl::unexpected(text.error());
}

/// Prints the page, or opens it.
Expected<void> print_page(const Expected<std::string>& page, const OutputOptions& options) {
  if (!page || !options.opens_page)
    return print_text(page, options.file);
  std::filesystem::path file = options.file;
  if (file.empty()) {
    TRY_LET(made, file_for_page());
    file = std::move(*made);
  }
  TRY(driver::print_text(*page, file.string()));
  return open_in_browser(file);
}

} // namespace

report::TextOptions text_options(const OutputOptions& output) {
  report::TextOptions options;
  options.columns = output.columns;
  options.sort = output.sort;
  options.source = output.source;
  options.width = output.width.value_or(options.width);
  if (!output.file.empty() || isatty(STDOUT_FILENO) == 0)
    return options;
  const char* no_color = std::getenv("NO_COLOR"); // https://no-color.org
  options.colour = no_color == nullptr || *no_color == '\0';
  if (winsize size{}; !output.width && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
    options.width = size.ws_col;
  return options;
}

Expected<void> check_writable(const std::filesystem::path& file) {
  if (file.empty())
    return {};
  std::error_code error;
  const bool there = std::filesystem::exists(file, error);
  if (std::filesystem::is_directory(file, error))
    return fail("{}: cannot be written: it is a folder", file.string());
  const auto checked = there                    ? file
                       : file.has_parent_path() ? file.parent_path()
                                                : std::filesystem::path(".");
  if (access(checked.c_str(), there ? W_OK : W_OK | X_OK) != 0)
    return fail("{}: cannot be written: {}", file.string(), std::strerror(errno));
  return {};
}

std::string text_of_json(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

Expected<void> print_text(const std::string& text, const std::string& file) {
  if (file.empty()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      return fail("stdout: {}", std::strerror(errno));
    return {};
  }
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  if (!stream)
    return fail("{}: cannot be written: {}", file, std::strerror(errno));
  if (!(stream << text).flush()) {
    const std::string reason = std::strerror(errno);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored))
      std::filesystem::remove(file, ignored); // removes half a result
    return fail("{}: cannot be written: {}", file, reason);
  }
  return {};
}

Expected<void> check_page() {
  std::error_code ignored;
  if (!std::filesystem::exists(toolchain::resources().page, ignored))
    return fail(
        "this build has no report page ({} is missing): Node.js was not found when it was built; the other "
        "formats work without",
        toolchain::resources().page.string());
  return {};
}

Expected<void> check_format(const ReportFormat& format) {
  return format.is_page ? check_page() : Expected<void>{};
}

Expected<std::string> page_with(const std::vector<report::LabelledResult>& results) {
  TRY(check_page());
  TRY_LET(page, read_file(toolchain::resources().page));
  return report::print_page(results, {*page, toolchain::version, {}});
}

Expected<void> print_comparison(const std::vector<report::LabelledResult>& results,
                                const OutputOptions& options) {
  return print_page(page_with(results), options);
}

Expected<void> print_report(const std::string& text_or_json, const std::string& format,
                            const OutputOptions& options) {
  if (format != "html")
    return print_text(text_or_json, options.file);
  TRY(check_page());
  TRY_LET(page, read_file(toolchain::resources().page));
  const auto json = nlohmann::ordered_json::parse(text_or_json);
  return print_text(report::print_page({}, {*page, toolchain::version, {}, nullptr, &json}), options.file);
}

Expected<void> print(const Result& result, const std::string& label, const OutputOptions& options) {
  return print_page(options.format->print(result, label, options), options);
}

} // namespace warplens::driver
