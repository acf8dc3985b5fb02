// Explains errors that only Clang makes to nvcc's users, who have seen the source compile.
#pragma once

#include "support/expected.h"
#include "toolchain/nvcc/nvcc_arguments.h"
#include "toolchain/toolkit.h"

#include <filesystem>
#include <string>

namespace warplens::toolchain {

/// Returns whether this is a compiler's message about a place in a source (FILE:LINE:COLUMN: …).
bool is_about_source(const std::string& message);

/// Returns "nvcc takes this, Clang 19 does not: MESSAGE".
std::string only_clang_objects(const std::string& message);

/// Compiles `source` with nvcc to check an error of Clang's about it: if nvcc succeeds, the returned error
/// says so. Other errors are returned unchanged. `directory` is for temporary files.
Error with_nvccs_opinion(Error error, const std::filesystem::path& source, const NvccArguments& nvcc,
                         const Toolkit& toolkit, const std::filesystem::path& directory);

} // namespace warplens::toolchain
