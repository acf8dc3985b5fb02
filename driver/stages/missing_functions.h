// What a linker did not find, as a user understands it.
#pragma once

#include <string>

namespace warplens::driver {

/// In one line: which of CUDA's libraries the program calls that the CPU back end has not, with the
/// functions; where none of them is concerned, the first symbol that is missing. Empty where the linker
/// complains of something else.
std::string explain_missing(const std::string& linker_output);

} // namespace warplens::driver
