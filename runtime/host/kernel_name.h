// Kernels' names as their programmers know them.
#pragma once

#include <string>

namespace warplens::runtime {

/// The symbol as the programmer's declaration gives it. Compilers tell the static kernels of several files
/// apart by what they put around their names: nvcc `__nv_static_NN__MODULE_` in front, Clang `__intern__HASH`
/// or
/// `__static__HASH` behind. A name that merely contains such words stays whole.
std::string symbol_as_written(const std::string& symbol);

/// The demangled name without parameters and return type: "_Z5scaleIfEvPT_" → "scale<float>". What is not an
/// Itanium C++ ABI mangled name comes back as it is.
std::string kernel_name(const std::string& symbol);

} // namespace warplens::runtime
