// What only Clang objects to: nvcc's users are told, for they have seen the source compile.
#pragma once

#include "driver/arguments/nvcc_arguments.h"
#include "driver/toolkit.h"
#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::driver {

/// Is that a compiler's message about a place in a source (FILE:LINE:COLUMN: …)?
bool is_about_source(const std::string& message);

/// "nvcc takes this, Clang 19 does not: MESSAGE".
std::string only_clang_objects(const std::string& message);

/// An error of Clang's about `source`, with nvcc asked about the same source: if nvcc compiles it, the error
/// says so. Other errors come back as they are. `directory` is for files that are needed meanwhile.
Error with_nvccs_opinion(Error error, const std::filesystem::path& source, const NvccArguments& nvcc,
                         const Toolkit& toolkit, const std::filesystem::path& directory);

} // namespace warplens::driver
