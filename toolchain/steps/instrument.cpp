#include "toolchain/steps/instrument.h"

#include "toolchain/cache/cache_folder.h"
#include "toolchain/cache/stage_cache.h"
#include "toolchain/resources.h"
#include "toolchain/steps/compiler.h"
#include "toolchain/version.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace warplens::toolchain {
namespace {

/// Returns `warplens-compile VERB OPTIONS… SOURCE -- CLANG-ARGUMENTS…`.
std::vector<std::string> compile_command(std::vector<std::string> command,
                                         const std::filesystem::path& source,
                                         const std::vector<std::string>& clang_arguments) {
  command.insert(command.begin(), resources().compile.string());
  command.insert(command.end(), {source.string(), "--"});
  command.insert(command.end(), clang_arguments.begin(), clang_arguments.end());
  return command;
}

Expected<void> check_readable(const std::filesystem::path& source) {
  std::error_code error;
  if (!std::filesystem::exists(source, error))
    return fail("{}: no such file", source.string());
  if (std::filesystem::is_directory(source, error))
    return fail("{}: it is a folder, not a CUDA source", source.string());
  if (!std::filesystem::is_regular_file(source, error) || !std::ifstream(source))
    return fail("{}: cannot be read", source.string());
  return {};
}

} // namespace

std::filesystem::path copy_with_probes(const std::filesystem::path& source,
                                       const std::filesystem::path& directory) {
  return directory / source.filename();
}

Expected<InstrumentedSource> instrument(const std::filesystem::path& source,
                                        const std::vector<std::string>& clang_arguments,
                                        const std::filesystem::path& directory) {
  TRY(check_readable(source));
  const auto summary = directory / "instrumented.json", sites = directory / "instrumented.sites",
             read = directory / "instrumented.d";
  std::vector<std::string> options{"rewrite",      "--output",       directory.string(),
                                   "--summary",    summary.string(), "--sites",
                                   sites.string(), "--dependencies", read.string()};
  if (const auto folder = cache_folder(); !folder.empty())
    options.insert(options.end(), {"--cache", folder.string()});
  const auto command = compile_command(std::move(options), source, clang_arguments);
  const StageCache cache;
  const StageRun run{directory,
                     command,
                     {resources().compile, resources().linking_compiler},
                     searched_folders(source, clang_arguments),
                     true};
  if (cache.restore(run).empty()) {
    TRY(run_compiler(command));
    const MakeRule rule = read_rule(read);
    cache.keep(run, rule.prerequisites, rule.targets);
  }
  std::ifstream file(summary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object())
    return fail("{}: instrumenting it left no summary", source.string());
  // The copy's name does not come from the summary: JSON holds UTF-8 only, a file name any bytes.
  return InstrumentedSource{copy_with_probes(source, directory),
                            sites,
                            json.value("sites", std::uint64_t{0}),
                            json.value("accesses", std::uint64_t{0}),
                            json.value("removed", std::uint64_t{0}),
                            unseen_accesses(json.value("unseen_accesses", nlohmann::json::array())),
                            json.value("refused", std::string())};
}

Expected<std::string> instrumentation_patch(const std::filesystem::path& source,
                                            const std::vector<std::string>& clang_arguments) {
  TRY(check_readable(source));
  return run_compiler(
      compile_command({"patch", "--include", resources().include.string()}, source, clang_arguments));
}

} // namespace warplens::toolchain
