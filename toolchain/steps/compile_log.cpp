#include "toolchain/steps/compile_log.h"

#include "support/files.h"
#include "toolchain/nvcc/clang_arguments.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <utility>

namespace warplens::toolchain {
namespace {

using nlohmann::json;

std::string printed(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

Expected<void> append(const std::filesystem::path& file, const std::string& line) {
  const int log = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written = log >= 0 && write(log, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int reason = errno;
  if (log >= 0)
    close(log);
  if (!written)
    return fail("{}: cannot be written: {}", file.string(), std::strerror(reason));
  return {};
}

/// The entries, keyed by their source, in their order.
class Database {
public:
  void add(json entry) {
    if (!entry.is_object())
      return;
    const auto text = [&](const char* name) { // an older file may hold anything
      const auto found = entry.find(name);
      return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const std::pair key{text("directory"), text("file")};
    const auto [found, is_new] = places_.try_emplace(key, entries_.size());
    if (is_new)
      entries_.push_back(std::move(entry));
    else
      entries_[found->second] = std::move(entry);
  }
  const json& entries() const { return entries_; }

private:
  json entries_ = json::array();
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

} // namespace

Expected<void> log_compilation(const NvccArguments& nvcc, const Toolkit& toolkit,
                               const std::filesystem::path& log) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (error)
    return fail("the current folder: {}", error.message());
  auto arguments = clang_arguments(nvcc, toolkit);
  std::erase(arguments, "-w"); // the database's readers want warnings
  for (const auto& source : nvcc.cuda_inputs) {
    auto command = arguments;
    command.insert(command.end(), {"-c", source});
    const json entry{{"directory", here.string()}, {"file", source}, {"arguments", command}};
    TRY(append(log, printed(entry, -1) + '\n'));
  }
  return {};
}

Expected<std::size_t> merge_compile_log(const std::filesystem::path& log, const std::filesystem::path& file) {
  Database database;
  if (std::error_code ignored; std::filesystem::exists(file, ignored)) {
    TRY_LET(older, read_file(file));
    const auto entries = json::parse(*older, nullptr, false);
    if (!entries.is_array())
      return fail("{}: is no compile_commands.json; move it away to get a new one", file.string());
    for (const auto& entry : entries)
      database.add(entry);
  }
  std::size_t count = 0;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line); ++count)
    database.add(json::parse(line, nullptr, false));
  TRY(write_file(file, printed(database.entries(), 1) + '\n'));
  return count;
}

} // namespace warplens::toolchain
