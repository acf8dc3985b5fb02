#include "driver/stages/read_measured.h"

#include "support/files.h"
#include "support/process.h"
#include "support/temporary.h"
#include "toolchain/resources.h"

#include <iterator>

namespace warplens::driver {
namespace {

/// The exit code of ncu_report_pages.py where the module is not installed.
constexpr int without_module = 3;

/// Reads the report's pages `raw` and `source`, as NVIDIA's module prints them; nothing if the module,
/// or Python, is not installed.
Expected<std::optional<std::vector<import::KernelCounters>>> read_by_module(const std::string& file) {
  TRY_LET(folder, TemporaryDirectory::create());
  const auto raw = folder->path() / "raw.csv", source = folder->path() / "source.csv";
  Command command;
  command.arguments = {"python3", "-B",         toolchain::resources().ncu_report_pages.string(),
                       file,      raw.string(), source.string()};
  command.capture_output = true;
  const auto finished = run(command);
  if (!finished || finished->exit_code == without_module)
    return std::nullopt;
  if (finished->exit_code != 0)
    return fail("NVIDIA's module ncu_report cannot read it: {}",
                finished->output.substr(0, finished->output.find('\n')));
  TRY_LET(raw_text, read_file(raw.string()));
  TRY_LET(launches, import::read_ncu(*raw_text, {}));
  TRY_LET(source_text, read_file(source.string()));
  if (!source_text->empty())
    TRY(import::add_ncu_source(*source_text, *launches));
  return std::optional(std::move(*launches));
}

Expected<std::vector<import::KernelCounters>> read_one(const std::string& file,
                                                       const import::NcuOptions& options,
                                                       std::vector<import::KernelCounters>& before) {
  TRY_LET(text, read_file(file));
  TRY_LET(profiler, import::profiler_of(*text));
  if (*profiler == import::Profiler::ncu_report) {
    TRY_LET(launches, read_by_module(file));
    if (*launches)
      return std::move(**launches);
  }
  return import::read_counters(*text, options, &before);
}

} // namespace

Expected<std::vector<import::KernelCounters>> read_measured(const std::vector<std::string>& files,
                                                            const import::NcuOptions& options) {
  std::vector<import::KernelCounters> launches;
  for (const std::string& file : files) {
    auto more = read_one(file, options, launches);
    if (!more)
      return more.error().message.starts_with(file) ? more : fail("{}: {}", file, more.error().message);
    launches.insert(launches.end(), std::make_move_iterator(more->begin()),
                    std::make_move_iterator(more->end()));
  }
  return launches;
}

} // namespace warplens::driver
