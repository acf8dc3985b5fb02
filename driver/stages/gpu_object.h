// Instrumented source → object for NVIDIA GPUs, which links wherever the user's own would.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/toolkit.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

/// Is the argument an input, or does it say what comes out of the command and where that goes?
bool describes_result(const NvccArgument& argument);

/// -MD and its like.
bool concerns_dependencies(Meaning meaning);

/// -c, -dc or -dw: the one with which a source becomes the object that the command line needs of it.
std::string phase_of_object(const NvccArguments& nvcc);

/// One source on its way to an object.
struct GpuSource {
  const Toolkit& toolkit;
  const NvccArguments& nvcc;
  std::filesystem::path original;  ///< the user's file; in its folder quoted includes are looked for
  std::filesystem::path directory; ///< ours alone, for intermediate files
};

/// The user's own device code as PTX, in nvcc's order of architectures. Needs no probes, so that it can be
/// made while they are planned.
Expected<std::vector<std::filesystem::path>> compile_plain_form(const GpuSource& source);

struct GpuObject {
  std::string said;     ///< by nvcc's parts
  std::string one_form; ///< why its kernels have no form without probes; empty: they have
};

/// The instrumented `copy` → `object`, by nvcc's own parts with the user's own flags; it holds each kernel
/// with and without probes where `plain` could be made. Its launches and allocations go through ours. Nothing
/// in it depends on when it was made.
Expected<GpuObject> compile_gpu_object(const GpuSource& source, const std::filesystem::path& copy,
                                       const Expected<std::vector<std::filesystem::path>>& plain,
                                       const std::filesystem::path& object);

} // namespace warplens::driver
