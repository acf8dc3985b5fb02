// Stage: a module (cubin, PTX, fatbin) and how its kernel is launched → a program that launches it. For what
// JIT compilers leave, whose own host side is not there.
#pragma once

#include "driver/stages/launch_spec.h"
#include "model/gpu/gpu.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

/// Returns whether a file's name is that of a module.
bool is_module(const std::filesystem::path& file);

/// Assembles PTX for the GPUs, finds the kernel, and holds the launch against it and against the GPUs'
/// limits. Returns the command that launches it, whose files are in the folder. The error is one line: a
/// damaged module, no such kernel, other arguments than its parameters, a launch beyond a GPU's limits.
Expected<std::vector<std::string>> launch_module(const std::filesystem::path& module,
                                                 const std::filesystem::path& spec,
                                                 const std::vector<model::Gpu>& gpus,
                                                 const std::filesystem::path& folder);

} // namespace warplens::driver
