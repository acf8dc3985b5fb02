#include "runtime/cpu/device/assembled.h"

#include "support/files.h"
#include "support/hash.h"
#include "support/process.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace warplens::cpu {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// Writes the file whole or not at all: other processes of the program may use the folder.
bool write_atomically(const fs::path& file, std::string_view bytes) {
  const fs::path temporary = fmt::format("{}.{}", file.string(), getpid());
  std::error_code error;
  if (!write_file(temporary, bytes))
    return false;
  fs::rename(temporary, file, error);
  return !error;
}

/// Returns the text, which is never freed: a record is valid until the process ends.
const std::string& kept(std::string text) {
  return *new std::string(std::move(text));
}

/// Reads the table that driver/commands/assemble.cpp writes, a line for each kernel and GPU.
std::vector<const CompiledRecord*> read_table(const std::string& table, const std::string& module) {
  const char* const kept_module = kept(module).c_str();
  std::map<std::string, const std::string*> cubins; // by file
  std::vector<const CompiledRecord*> records;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    CompiledRecord record{};
    std::string symbol, cubin;
    words >> symbol >> record.capability >> record.architecture >> record.registers >> record.stack_bytes >>
        record.spill_store_bytes >> record.spill_load_bytes >> record.shared_bytes >> std::ws;
    if (!std::getline(words, cubin))
      continue;
    const auto [at, is_new] = cubins.try_emplace(cubin);
    if (is_new)
      at->second = &kept(read_file(cubin).value_or(""));
    record.symbol = kept(symbol).c_str();
    record.module = kept_module;
    if (!at->second->empty()) {
      record.cubin = reinterpret_cast<const unsigned char*>(at->second->data());
      record.cubin_end = record.cubin + at->second->size();
    }
    records.push_back(new CompiledRecord(record));
  }
  return records;
}

} // namespace

std::vector<const CompiledRecord*> assembled(const PtxRecord& ptx, const std::set<std::uint32_t>& known) {
  const std::string assembler = variable("WARPLENS_ASSEMBLER"), folder = variable("WARPLENS_ASSEMBLED"),
                    capabilities = variable("WARPLENS_CAPABILITIES");
  std::set<std::uint32_t> wanted;
  std::istringstream words(capabilities);
  for (std::uint32_t capability = 0; words >> capability;)
    if (!known.contains(capability))
      wanted.insert(capability);
  if (assembler.empty() || folder.empty() || wanted.empty())
    return {};
  const std::string_view packed(reinterpret_cast<const char*>(ptx.packed),
                                static_cast<std::size_t>(ptx.packed_end - ptx.packed));
  const fs::path file = fs::path(folder) / content_hash(packed), made = file.string() + ".code";
  std::error_code error;
  if (!fs::exists(file, error) && !write_atomically(file, packed))
    return {};
  Command command{.arguments = {assembler, "assemble", file.string(), made.string()}, .capture_output = true};
  for (const std::uint32_t capability : wanted)
    command.arguments.push_back(std::to_string(capability));
  // The table tells how it ended; the program may have taken the exit code for itself (SIGCHLD).
  static_cast<void>(run(command));
  return read_table(read_file(made / "table").value_or(""), ptx.module);
}

} // namespace warplens::cpu
