// Explains a linker's undefined symbols to the user.
#pragma once

#include <string>

namespace warplens::toolchain {

/// Returns one line: the CUDA libraries that the program calls and the CPU back end lacks, with the
/// functions; if none of them is concerned, the first missing symbol. The line is empty if the linker
/// complains of something else.
std::string explain_missing(const std::string& linker_output);

} // namespace warplens::toolchain
