// Where kernels that were compiled for the CPU back end are kept for the next compilation.
#pragma once

#include <filesystem>

namespace warplens::driver {

/// The folder that WARPLENS_CACHE names; without it, warplens/ in XDG_CACHE_HOME or in ~/.cache. Empty where
/// WARPLENS_CACHE is `off`, or where the user has no folder of the kind.
std::filesystem::path kernel_cache();

} // namespace warplens::driver
