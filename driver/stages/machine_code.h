// Determines the machine code that NVIDIA's compiler makes of each kernel of a source, from ptxas's log:
// registers, stack, spills. Only the user's own code is compiled, without probes, by nvcc with the user's own
// flags.
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
};

/// Returns one entry for each kernel and capability. Kernels whose figures cannot be known before the device
/// link have none, nor has a source that nvcc refuses.
std::vector<KernelCode> machine_code(const MachineCodeRequest& request);

/// A future of the machine code, computed beside other work.
using MachineCodes = std::shared_future<std::vector<KernelCode>>;
MachineCodes start_machine_code(MachineCodeRequest request);

/// Returns the capabilities of the GPUs that come with Warplens, for programs that are built before the
/// requested GPUs are known.
std::vector<int> known_capabilities();
/// Returns the capabilities of the GPUs for which machine code can be known.
std::vector<int> capabilities_of(const std::vector<model::Gpu>& gpus);

} // namespace warplens::driver
