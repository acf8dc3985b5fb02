// Translates nvcc's arguments to Clang's.
#pragma once

#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/toolkit.h"

#include <string>
#include <vector>

namespace warplens::toolchain {

/// The compute capability (80 is 8.0) of the GPU that a program runs on unless another one is requested.
inline constexpr int default_capability = 80;

/// Returns a clang++ command line (the compiler first) that parses CUDA as `nvcc` with these arguments would,
/// without source, mode and output. It names the requested architectures that Clang knows. Code that is
/// compiled and not only parsed is compiled for the first of them: the newest that a GPU of this capability
/// runs, as CUDA would choose it, or the oldest if the GPU runs none.
std::vector<std::string> clang_arguments(const NvccArguments& nvcc, const Toolkit& toolkit,
                                         int capability = default_capability);

/// Returns the same command lines for several architectures, in the order of trial: the first, and those
/// older than it, the newest of these first. NVIDIA's headers hold inline PTX for new architectures that code
/// for older ones does without.
std::vector<std::vector<std::string>> with_older_architectures(const std::vector<std::string>& arguments);

} // namespace warplens::toolchain
