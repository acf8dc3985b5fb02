// Kernels' names as in the source.
#pragma once

#include <string>

namespace warplens::runtime {

/// Returns the symbol of the programmer's declaration. Compilers distinguish the static kernels of several
/// files by additions to their names: nvcc prepends `__nv_static_NN__MODULE_`, Clang appends `__intern__HASH`
/// or `__static__HASH`. A name that merely contains such words is unchanged.
std::string symbol_as_written(const std::string& symbol);

/// Returns the demangled name without parameters and return type: "_Z5scaleIfEvPT_" → "scale<float>". A
/// symbol that is not an Itanium C++ ABI mangled name is returned as it is.
std::string kernel_name(const std::string& symbol);

} // namespace warplens::runtime
