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

/// The real nvcc with the user's own flags. `original` is the user's file; its folder is where quoted
/// includes are looked for. Intermediate files come to lie beside `object`, which has a folder of its own.
std::vector<std::string> gpu_object_command(const Toolkit& toolkit, const NvccArguments& nvcc,
                                            const std::filesystem::path& source,
                                            const std::filesystem::path& original,
                                            const std::filesystem::path& object);

/// The object's launches and allocations go through ours from now on. Nothing in it depends on when it was
/// made.
Expected<void> redirect_launches(const std::filesystem::path& object);

} // namespace warplens::driver
