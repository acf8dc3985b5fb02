// The CUDA Toolkit on this machine.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::toolchain {

struct Toolkit {
  std::filesystem::path root; ///< holds bin/nvcc and include/cuda_runtime.h
};

/// Looks at $CUDA_PATH, $CUDA_HOME, each nvcc in $PATH and /usr/local/cuda, in this order. The error lists
/// these places and says how to get a toolkit.
Expected<Toolkit> find_toolkit();

/// Returns the toolkit that an nvcc belongs to; an nvcc that starts the real one (a script, ccache's link) is
/// run to find out.
Expected<Toolkit> toolkit_of(const std::filesystem::path& nvcc);

/// Returns whether another of our processes has started this one to learn where the toolkit is.
bool was_asked_for_toolkit();

/// Returns "13.0.88", as its nvcc prints it; "unknown" if it does not.
std::string version_of(const Toolkit& toolkit);

/// Returns the folder of its libraries for this machine; empty if it has none.
std::filesystem::path libraries_of(const Toolkit& toolkit);

} // namespace warplens::toolchain
