#include "toolchain/cache/cache_folder.h"

#include <cstdlib>
#include <string_view>

namespace warplens::toolchain {

std::filesystem::path cache_folder() {
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const auto requested = variable("WARPLENS_CACHE"); !requested.empty())
    return requested == "off" ? std::filesystem::path() : std::filesystem::absolute(requested);
  // The XDG Base Directory Specification requires relative paths to be ignored.
  if (const std::filesystem::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "warplens";
  if (const std::filesystem::path home = variable("HOME"); home.is_absolute())
    return home / ".cache" / "warplens";
  return {};
}

} // namespace warplens::toolchain
