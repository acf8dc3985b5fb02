// The CUDA Toolkit on this machine.
#pragma once

#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::driver {

struct Toolkit {
  std::filesystem::path root; ///< holds bin/nvcc and include/cuda_runtime.h
};

/// Looks at $CUDA_PATH, $CUDA_HOME, each nvcc in $PATH and /usr/local/cuda, in this order. The error says so
/// and how to get one.
Expected<Toolkit> find_toolkit();

/// The toolkit that an nvcc belongs to; one that starts the real nvcc (a script, ccache's link) is asked.
Expected<Toolkit> toolkit_of(const std::filesystem::path& nvcc);

/// "13.0.88", as its nvcc says; "unknown" if it does not.
std::string version_of(const Toolkit& toolkit);

} // namespace warplens::driver
