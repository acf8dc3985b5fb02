// NVIDIA's own libraries, which a program may load: they need NVIDIA's driver, and so fail on the CPU back
// end.
#pragma once

#include <string>

namespace warplens::cpu {

/// Returns cuBLAS for "/usr/lib/libcublas.so.12"; empty for a library that does not need the driver.
std::string library_of_cuda(const std::string& file);

/// Prints to stderr, once, a line for each such library that was loaded with the program.
void warn_of_real_libraries();

/// Says, once, that the program calls another CUDA runtime than this one, and how to build it.
void warn_of_other_runtime();

} // namespace warplens::cpu
