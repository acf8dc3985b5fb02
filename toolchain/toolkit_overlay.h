// A folder that looks like the CUDA Toolkit and has the CPU back end's libraries in the place of CUDA's.
#pragma once

#include "support/expected.h"
#include "toolchain/toolkit.h"

#include <filesystem>

namespace warplens::toolchain {

/// Makes the folder in the user's cache, unless it is there, and returns it. Everything but the libraries is
/// a link to the toolkit's own. Build systems that name libraries by their full path (CMake's
/// FindCUDAToolkit) link those of the CPU back end if they take it for the toolkit. The error says why there
/// is no such folder.
Expected<std::filesystem::path> toolkit_overlay(const Toolkit& toolkit);

} // namespace warplens::toolchain
