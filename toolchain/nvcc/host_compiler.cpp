#include "toolchain/nvcc/host_compiler.h"

#include "support/process.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string_view>

namespace warplens::toolchain {
namespace {

/// Returns what a compiler like gcc says of its folders and macros, as `-isystem` and `-D` words.
std::set<std::string> settings_of(const std::string& compiler) {
  const auto answered =
      run({.arguments = {compiler, "-x", "c++", "-E", "-v", "-dM", "/dev/null"}, .capture_output = true});
  std::set<std::string> settings;
  if (!answered || answered->exit_code != 0)
    return settings;
  std::istringstream lines(answered->output);
  bool lists_folders = false;
  constexpr std::string_view definition = "#define ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#include <...>"))
      lists_folders = true;
    else if (line.starts_with("End of search list"))
      lists_folders = false;
    else if (lists_folders && line.starts_with(' ')) {
      std::error_code error; // a folder that cannot be resolved has no headers
      if (const auto folder = std::filesystem::canonical(line.substr(1), error).string();
          !error && folder.find("/c++/") == folder.npos && folder.find("/gcc/") == folder.npos)
        settings.insert("-isystem" + folder);
    } else if (line.starts_with(definition) && !line.starts_with("#define __")) {
      std::string macro = line.substr(definition.size());
      if (const auto blank = macro.find(' '); blank != macro.npos && macro.find('(') > blank)
        settings.insert("-D" + macro.replace(blank, 1, "="));
    }
  }
  return settings;
}

std::string program_of(const std::string& compiler) {
  std::error_code error;
  return std::filesystem::is_directory(compiler, error) ? (std::filesystem::path(compiler) / "g++").string()
                                                        : compiler;
}

} // namespace

std::vector<std::string> host_compiler_settings(const std::string& compiler) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::string>> known;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(compiler);
  if (is_new) {
    const auto usual = settings_of("g++");
    std::ranges::set_difference(settings_of(program_of(compiler)), usual, std::back_inserter(found->second));
  }
  return found->second;
}

} // namespace warplens::toolchain
