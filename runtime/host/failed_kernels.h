// Reports failed kernels to `warplens run`: a program that ignores the error exits with code 0 all the same.
#pragma once

#include <string>

namespace warplens::runtime {

/// Adds a line to the file that the environment's WARPLENS_FAILED_KERNELS names; does nothing without one.
/// Processes and threads may call it at the same time.
void report_failed_kernel(const std::string& kernel, const std::string& why);

} // namespace warplens::runtime
