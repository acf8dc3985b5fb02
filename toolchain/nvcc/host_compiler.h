// Asks the host compiler of -ccbin for the folders that it adds by itself, as MPI's wrappers do.
#pragma once

#include <string>
#include <vector>

namespace warplens::toolchain {

/// Returns the folders of headers and the macros that `compiler` (a program, or a folder with g++) has and
/// g++ does not, as options of Clang. Folders of a compiler's own headers and reserved macros are not among
/// them. The compiler is asked once for each process. Returns nothing if it does not answer.
std::vector<std::string> host_compiler_settings(const std::string& compiler);

} // namespace warplens::toolchain
