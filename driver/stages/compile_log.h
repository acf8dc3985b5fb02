// What a build compiled: entries of a compile_commands.json, which the drop-in nvcc writes down while the
// build runs. Their format is Clang's ("JSON Compilation Database Format Specification").
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/toolkit.h"
#include "support/expected.h"

#include <filesystem>

namespace warplens::driver {

/// The environment variable that names the file; unset: nothing is written down.
inline constexpr const char* compile_log_variable = "WARPLENS_COMPILE_LOG";

/// Appends an entry for each CUDA source of the command, as one write each: the compilations of a parallel
/// build share the file.
Expected<void> log_compilation(const NvccArguments& nvcc, const Toolkit& toolkit,
                               const std::filesystem::path& log);

/// Puts the log's entries into the database in `file`, which may be there already, in the places of older
/// ones for the same sources. Returns how many the log had.
Expected<std::size_t> merge_compile_log(const std::filesystem::path& log, const std::filesystem::path& file);

} // namespace warplens::driver
