// Stage: (instrumented) sources → program.
#pragma once

#include "runtime/abi/checks.h"
#include "support/expected.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/objects/machine_code.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::toolchain {

struct SourceToBuild {
  std::filesystem::path source;   ///< the source to compile
  std::filesystem::path original; ///< the user's file; quoted includes are searched in its folder
  bool is_cuda = true;
  std::filesystem::path directory;       ///< this source's own; its object goes there
  std::filesystem::path site_table = {}; ///< for GPUs: see GpuCompilation
  MachineCodes machine_code = {};        ///< for the CPU back end; not valid: nothing is known
  std::string refused = {};              ///< see CpuSource
};

struct BuildRequest {
  std::vector<SourceToBuild> sources; ///< at least one
  NvccArguments nvcc;
  std::vector<std::string> clang_arguments; ///< see clang_arguments()
  Toolkit toolkit;
  std::filesystem::path directory; ///< the program goes there
  cpu::Checks checks;              ///< the checks that its code makes while it runs; for the CPU only
};

/// Builds a program that runs without a GPU: the device half lowered to x86-64, our runtime in cudart's
/// place.
Expected<std::filesystem::path> build_for_cpu(const BuildRequest& request);

/// Builds a program for NVIDIA GPUs, compiled by the real nvcc with the user's own flags. `warplens run`
/// gives it the runtime when it starts.
Expected<std::filesystem::path> build_for_gpu(const BuildRequest& request);

} // namespace warplens::toolchain
