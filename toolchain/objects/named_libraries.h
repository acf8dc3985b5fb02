// The libraries that a link names by -L and -l.
#pragma once

#include <string>
#include <vector>

namespace warplens::toolchain {

/// Returns the words of a link with `-lNAME` and `-l:FILE` replaced by the file that a linker finds in the
/// folders of -L: in the first that has one, the shared library before the archive. Libraries of the system's
/// folders, in which there is no device code, and all other words stay as they are.
std::vector<std::string> find_named_libraries(std::vector<std::string> linking);

} // namespace warplens::toolchain
