#include "driver/stages/manifest.h"

#include "support/files.h"
#include "support/hash.h"
#include "toolchain/resources.h"
#include "toolchain/toolkit.h"
#include "toolchain/version.h"

#include <filesystem>

namespace warplens::driver {
namespace {

void add(std::vector<NamedHash>& files, const std::string& name, const std::filesystem::path& file) {
  if (const auto bytes = read_file(file))
    files.push_back({name, stable_hash(*bytes)});
}

} // namespace

Manifest make_manifest(const std::vector<std::string>& gpus, const std::vector<std::string>& sources,
                       const std::string& nvcc) {
  Manifest manifest;
  manifest.version = toolchain::version;
  manifest.nvcc = nvcc;
  for (const std::string& source : sources)
    add(manifest.sources, source, source);
  if (!sources.empty())
    if (const auto toolkit = toolchain::find_toolkit())
      manifest.toolkit = toolchain::version_of(*toolkit);
  for (const std::string& gpu : gpus) {
    const std::filesystem::path known = toolchain::resources().gpus / (gpu + ".toml");
    std::error_code ignored;
    add(manifest.gpus, gpu, std::filesystem::exists(known, ignored) ? known : std::filesystem::path(gpu));
  }
  return manifest;
}

} // namespace warplens::driver
