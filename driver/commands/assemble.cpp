// `warplens assemble PTX FOLDER CAPABILITY...`: makes machine code for a running program, which starts it
// (runtime/cpu/device/assembled.cpp). No person does, so that no help has it.

#include "toolchain/objects/assemble.h"

#include "driver/commands/commands.h"
#include "driver/progress.h"
#include "support/files.h"

#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

/// Holds a file's lock: processes of one program ask for the same at the same time. Without a lock the work
/// is done twice.
class FileLock {
public:
  explicit FileLock(const fs::path& file)
      : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() {
    if (descriptor_ >= 0)
      close(descriptor_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

private:
  int descriptor_;
};

std::string line_of(const toolchain::KernelCode& kernel) {
  const trace::MachineCode& code = kernel.code;
  return fmt::format("{} {} {} {} {} {} {} {} {}\n", kernel.symbol, code.capability, code.architecture,
                     code.registers, code.stack_bytes, code.spill_store_bytes, code.spill_load_bytes,
                     code.shared_bytes, kernel.cubin.string());
}

} // namespace

Expected<void> assemble_command(const std::vector<std::string>& words) {
  if (words.size() < 2)
    return fail("assemble: it takes a file of PTX, a folder and capabilities");
  const fs::path folder = words[1], table = folder / "table";
  std::vector<int> capabilities;
  for (auto word = words.begin() + 2; word != words.end(); ++word)
    std::from_chars(word->data(), word->data() + word->size(), capabilities.emplace_back());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail("{}: cannot be made: {}", folder.string(), error.message());
  const FileLock lock(folder / "lock");
  if (fs::exists(table, error))
    return {};
  TRY_LET(bytes, read_file(words[0]));
  TRY_LET(ptx, toolchain::unpack(*bytes));
  TRY_LET(toolkit, toolchain::find_toolkit());
  std::string text;
  for (const toolchain::KernelCode& kernel : toolchain::assemble(*ptx, *toolkit, capabilities, folder))
    text += line_of(kernel);
  return write_file(table, text);
}

} // namespace warplens::driver
