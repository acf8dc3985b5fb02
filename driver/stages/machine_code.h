// What NVIDIA's compiler makes of each kernel of a source, as ptxas says it: registers, stack, spills. Only
// the user's own code is asked about, without probes, as nvcc compiles it with the user's own flags.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/ptx/ptxas.h"
#include "driver/toolkit.h"
#include "model/gpu.h"
#include "support/expected.h"

#include <filesystem>
#include <future>
#include <vector>

namespace warplens::driver {

struct MachineCodeRequest {
  NvccArguments nvcc;
  Toolkit toolkit;
  std::filesystem::path source;    ///< the user's own
  std::filesystem::path directory; ///< ours alone
  std::vector<int> capabilities;   ///< of the GPUs that are asked about: 89 is 8.9
};

/// One entry for each kernel and capability; none for those that cannot be known before the device link, or
/// where nvcc does not take the source.
std::vector<KernelCode> machine_code(const MachineCodeRequest& request);

/// The same beside other work.
using MachineCodes = std::shared_future<std::vector<KernelCode>>;
MachineCodes start_machine_code(MachineCodeRequest request);

/// Those of the GPUs that come with Warplens, for programs that are built before it is known which are asked
/// for.
std::vector<int> known_capabilities();
/// Those of the GPUs of which something can be known.
std::vector<int> capabilities_of(const std::vector<model::Gpu>& gpus);

} // namespace warplens::driver
