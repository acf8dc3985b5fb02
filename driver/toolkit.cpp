#include "driver/toolkit.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
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

std::string read_version(const fs::path& root) {
  std::ifstream file(root / "version.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (const auto nvcc = json.is_object() ? json.find("cuda_nvcc") : json.end();
      nvcc != json.end() && nvcc->is_object())
    return nvcc->value("version", "unknown");
  return "unknown";
}

} // namespace

Expected<Toolkit> find_toolkit() {
  std::string looked;
  for (const auto& root : candidates()) {
    std::error_code error;
    if (fs::exists(root / "bin/nvcc", error) && fs::exists(root / "include/cuda_runtime.h", error))
      return Toolkit{root, read_version(root)};
    looked += (looked.empty() ? "" : ", ") + root.string();
  }
  return fail("no CUDA Toolkit found in {}: install CUDA 13 (https://developer.nvidia.com/cuda-downloads) or "
              "set CUDA_PATH",
              looked);
}

} // namespace warplens::driver
