// Libraries of CUDA's that a program brings along: they talk to NVIDIA's driver, and so fail here.
#pragma once

#include <string>

namespace warplens::cpu {

/// cuBLAS for "/usr/lib/libcublas.so.12"; empty: none that needs the driver.
std::string library_of_cuda(const std::string& file);

/// Once, on stderr: a line for each that was loaded with the program.
void warn_of_real_libraries();

} // namespace warplens::cpu
