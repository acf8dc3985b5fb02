// Kernels' names as their programmers know them.
#pragma once

#include <string>

namespace warplens::runtime {

/// The demangled name without parameters and return type: "_Z5scaleIfEvPT_" → "scale<float>". What is not an
/// Itanium C++ ABI mangled name comes back as it is.
std::string kernel_name(const std::string& symbol);

} // namespace warplens::runtime
