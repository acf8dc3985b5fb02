#include "toolchain/toolkit.h"

#include "support/pattern.h"
#include "support/process.h"

#include <cstdlib>
#include <sstream>
#include <vector>

namespace warplens::toolchain {
namespace {

namespace fs = std::filesystem;

/// The variable that is set while an nvcc is queried for its root: a wrapper that comes back to us is not
/// queried again.
const std::string query_variable = "WARPLENS_ASKS_NVCC";

bool is_toolkit(const fs::path& root) {
  std::error_code error;
  return fs::exists(root / "bin/nvcc", error) && fs::exists(root / "include/cuda_runtime.h", error);
}

/// Returns the root that `nvcc --dryrun` prints, as CMake does: "#$ TOP=/usr/local/cuda-13.0/bin/..".
fs::path query_root(const fs::path& nvcc) {
  Command command;
  command.arguments = {nvcc.string(), "--dryrun", "-E", "-x", "cu", "/dev/null"};
  command.environment = {{query_variable, "1"}};
  command.capture_output = true;
  const auto finished = run(command);
  static const Pattern top("#\\$ TOP=([^\n]+)");
  const auto match = finished ? top.first_match(finished->output) : std::nullopt;
  std::error_code error;
  return match ? fs::canonical((*match)[1], error) : fs::path();
}

std::vector<fs::path> folders_of_path() {
  std::vector<fs::path> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream words(path);
    for (std::string folder; std::getline(words, folder, ':');)
      folders.emplace_back(folder);
  }
  return folders;
}

} // namespace

bool was_asked_for_toolkit() {
  return std::getenv(query_variable.c_str()) != nullptr;
}

Expected<Toolkit> toolkit_of(const fs::path& nvcc) {
  std::error_code error;
  const auto file = fs::canonical(nvcc, error);
  if (error)
    return fail("{}: {}", nvcc.string(), error.message());
  if (const auto root = file.parent_path().parent_path(); is_toolkit(root))
    return Toolkit{root};
  if (!was_asked_for_toolkit())
    if (const auto root = query_root(nvcc); is_toolkit(root))
      return Toolkit{root};
  return fail("{}: belongs to no CUDA Toolkit", nvcc.string());
}

Expected<Toolkit> find_toolkit() {
  std::string looked;
  const auto note = [&](const fs::path& place) { looked += (looked.empty() ? "" : ", ") + place.string(); };
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* value = std::getenv(variable); value && *value) {
      if (is_toolkit(value))
        return Toolkit{value};
      note(value);
    }
  for (const auto& folder : folders_of_path()) {
    std::error_code error;
    if (!fs::exists(folder / "nvcc", error))
      continue;
    if (auto toolkit = toolkit_of(folder / "nvcc"))
      return toolkit;
    note(folder);
  }
  const fs::path usual = "/usr/local/cuda";
  if (is_toolkit(usual))
    return Toolkit{usual};
  note(usual);
  return fail("no CUDA Toolkit found in {}: install CUDA 13 (https://developer.nvidia.com/cuda-downloads) or "
              "set CUDA_PATH",
              looked);
}

/// Reads `nvcc --version`: "Cuda compilation tools, release 13.0, V13.0.88".
std::string version_of(const Toolkit& toolkit) {
  Command command;
  command.arguments = {(toolkit.root / "bin/nvcc").string(), "--version"};
  command.capture_output = true;
  const auto finished = run(command);
  static const Pattern number(", V([0-9.]+)");
  const auto match = finished ? number.first_match(finished->output) : std::nullopt;
  return match ? (*match)[1] : "unknown";
}

fs::path libraries_of(const Toolkit& toolkit) {
  std::error_code error;
  for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
    if (fs::is_directory(toolkit.root / folder, error))
      return fs::canonical(toolkit.root / folder, error);
  return {};
}

} // namespace warplens::toolchain
