// Determines the machine code that NVIDIA's compiler makes of each kernel of a source, from ptxas's log:
// registers, stack, spills. Only the user's own code is compiled, without probes, by nvcc with the user's own
// flags. GPUs that are not known yet get theirs later, from the PTX (toolchain/objects/assemble.h).
#pragma once

#include "support/expected.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/ptx/ptxas.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <future>
#include <vector>

namespace warplens::toolchain {

struct MachineCodeRequest {
  NvccArguments nvcc;
  Toolkit toolkit;
  std::filesystem::path source;    ///< the user's own source
  std::filesystem::path directory; ///< our own folder
  std::vector<int> capabilities;   ///< the capabilities of the requested GPUs: 89 is 8.9
  std::vector<int> later;          ///< those of GPUs for which the machine code is perhaps made later
};

struct MachineCode {
  std::vector<KernelCode> kernels; ///< one entry for each kernel and requested capability
  std::filesystem::path ptx;       ///< a file of packed PTX for all others; empty: none
};

/// Kernels whose figures cannot be known before the device link have no machine code, nor has a source that
/// nvcc refuses.
MachineCode machine_code(const MachineCodeRequest& request);

/// A future of the machine code, computed beside other work.
using MachineCodes = std::shared_future<MachineCode>;
MachineCodes start_machine_code(MachineCodeRequest request);

/// Starts it for a program that is built before the GPUs are known: it has the code for the GPU that it sees
/// by default, and the PTX for those of `later`, capabilities of GPUs.
MachineCodes start_machine_code_for_any_gpu(const NvccArguments& nvcc, const Toolkit& toolkit,
                                            const std::filesystem::path& source,
                                            const std::filesystem::path& directory, std::vector<int> later);

} // namespace warplens::toolchain
