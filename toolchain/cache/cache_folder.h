// The place of what was compiled before.
#pragma once

#include <filesystem>

namespace warplens::toolchain {

/// Returns the folder that WARPLENS_CACHE names; without it, warplens/ in XDG_CACHE_HOME or in ~/.cache. The
/// path is empty if WARPLENS_CACHE is `off`, or if the user has no such folder.
std::filesystem::path cache_folder();

} // namespace warplens::toolchain
