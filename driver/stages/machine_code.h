// Determines the machine code that NVIDIA's compiler makes of each kernel of a source, from ptxas's log:
// registers, stack, spills. Only the user's own code is compiled, without probes, by nvcc with the user's own
// flags. GPUs that are not known yet get theirs later, from the PTX (driver/stages/assemble.h).
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/ptx/ptxas.h"
#include "driver/toolkit.h"
#include "model/gpu/gpu.h"
#include "support/expected.h"

#include <filesystem>
#include <future>
#include <vector>

namespace warplens::driver {

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
/// by default, and the PTX for all GPUs that come with Warplens.
MachineCodes start_machine_code_for_any_gpu(const NvccArguments& nvcc, const Toolkit& toolkit,
                                            const std::filesystem::path& source,
                                            const std::filesystem::path& directory);

/// Returns the capabilities of the GPUs that come with Warplens.
std::vector<int> known_capabilities();
/// Returns the capabilities of the GPUs for which machine code can be known.
std::vector<int> capabilities_of(const std::vector<model::Gpu>& gpus);

} // namespace warplens::driver
