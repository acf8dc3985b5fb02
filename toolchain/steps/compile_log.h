// The log of a build's compilations: entries of a compile_commands.json, which the drop-in nvcc writes while
// the build runs. Their format is Clang's ("JSON Compilation Database Format Specification").
#pragma once

#include "support/expected.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/toolkit.h"

#include <filesystem>

namespace warplens::toolchain {

/// The environment variable that names the log file; unset: no log is written.
inline constexpr const char* compile_log_variable = "WARPLENS_COMPILE_LOG";

/// Appends an entry for each CUDA source of the command, as one write each: the compilations of a parallel
/// build share the file.
Expected<void> log_compilation(const NvccArguments& nvcc, const Toolkit& toolkit,
                               const std::filesystem::path& log);

/// Merges the log's entries into the database in `file`, which may exist already, in the places of older ones
/// for the same sources. Returns the number of entries in the log.
Expected<std::size_t> merge_compile_log(const std::filesystem::path& log, const std::filesystem::path& file);

} // namespace warplens::toolchain
