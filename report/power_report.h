// The power of kernels as text and as JSON, schema `warplens-power/1`.
#pragma once

#include "power/kernel_power.h"
#include "power/training.h"
#include "report/report.h"

#include <span>
#include <string>

namespace warplens::report {

/// A kernel with its power.
struct PoweredKernel {
  const KernelResult* kernel = nullptr;
  power::KernelPower power;
  double error = 0; ///< Energies::error
};

/// Prints each kernel's power, its parts, and the lines that take most of the energy.
std::string print_power_text(std::span<const PoweredKernel> kernels, const TextOptions& options);
std::string print_power_json(std::span<const PoweredKernel> kernels);

/// Prints what a fit of energies says of each measured kernel, and what the rows and the priors determine.
/// `prior`: where these come from.
std::string print_training(std::span<const power::MeasuredKernel> measured, const power::Training& training,
                           const std::string& prior);

} // namespace warplens::report
