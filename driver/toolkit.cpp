#include "driver/toolkit.h"

#include "support/process.h"

#include <cstdlib>
#include <regex>
#include <sstream>
#include <vector>

namespace warplens::driver {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* value = std::getenv(variable); value && *value)
      roots.emplace_back(value);
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      std::error_code error;
      if (const auto nvcc = fs::canonical(fs::path(folder) / "nvcc", error); !error)
        roots.push_back(nvcc.parent_path().parent_path());
    }
  }
  roots.emplace_back("/usr/local/cuda");
  return roots;
}

} // namespace

Expected<Toolkit> find_toolkit() {
  std::string looked;
  for (const auto& root : candidates()) {
    std::error_code error;
    if (fs::exists(root / "bin/nvcc", error) && fs::exists(root / "include/cuda_runtime.h", error))
      return Toolkit{root};
    looked += (looked.empty() ? "" : ", ") + root.string();
  }
  return fail("no CUDA Toolkit found in {}: install CUDA 13 (https://developer.nvidia.com/cuda-downloads) or "
              "set CUDA_PATH",
              looked);
}

/// From `nvcc --version`: "Cuda compilation tools, release 13.0, V13.0.88".
std::string version_of(const Toolkit& toolkit) {
  Command command;
  command.arguments = {(toolkit.root / "bin/nvcc").string(), "--version"};
  command.capture_output = true;
  const auto finished = run(command);
  static const std::regex version(", V([0-9.]+)");
  std::smatch match;
  return finished && std::regex_search(finished->output, match, version) ? match[1].str() : "unknown";
}

} // namespace warplens::driver
