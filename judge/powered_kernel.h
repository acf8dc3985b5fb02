// A kernel beside its power.
#pragma once

#include "power/kernel_power.h"
#include "result/result.h"

namespace warplens::judge {

/// A kernel with its power.
struct PoweredKernel {
  const KernelResult* kernel = nullptr;
  power::KernelPower power;
  double error = 0; ///< Energies::error
};

} // namespace warplens::judge
