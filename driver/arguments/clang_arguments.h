// nvcc's arguments as Clang's.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/toolkit.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// A clang++ command line (the compiler first) that parses CUDA as `nvcc` with these arguments would, without
/// source, mode and output. It names the architectures asked for that Clang knows, the lowest first:
/// what is compiled and not only parsed is compiled for that one, since NVIDIA's headers hold inline PTX for
/// newer ones.
std::vector<std::string> clang_arguments(const NvccArguments& nvcc, const Toolkit& toolkit);

} // namespace warplens::driver
