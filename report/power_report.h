// The power of kernels as text and as JSON, schema `warplens-power/1`.
#pragma once

#include "judge/powered_kernel.h"
#include "report/report.h"

#include <span>
#include <string>

namespace warplens::report {

/// Prints each kernel's power, its parts, and the lines that take most of the energy.
std::string print_power_text(std::span<const judge::PoweredKernel> kernels, const TextOptions& options);
std::string print_power_json(std::span<const judge::PoweredKernel> kernels);

} // namespace warplens::report
