// The place of the cache of kernels that were compiled for the CPU back end.
#pragma once

#include <filesystem>

namespace warplens::driver {

/// Returns the folder that WARPLENS_CACHE names; without it, warplens/ in XDG_CACHE_HOME or in ~/.cache. The
/// path is empty if WARPLENS_CACHE is `off`, or if the user has no such folder.
std::filesystem::path kernel_cache();

} // namespace warplens::driver
