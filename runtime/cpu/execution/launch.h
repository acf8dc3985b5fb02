// Launches kernels on the CPU back end: the implementation of cudaLaunchKernel.
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/cpu/execution/run_grid.h"
#include "trace/records.h"

#include <cstddef>
#include <optional>
#include <string>

namespace warplens::cpu {

enum class LaunchStatus {
  ok,
  trapped, ///< a thread executed trap or called abort_kernel: cudaErrorLaunchFailure or cudaErrorAssert, the
           ///< device's memory stays as it was
  faulted, ///< a thread accessed unmapped memory: cudaErrorIllegalAddress
  no_memory,   ///< too little for the threads that run at the same time: cudaErrorMemoryAllocation
  interrupted, ///< never returned: the program ends
};

struct LaunchResult {
  LaunchStatus status = LaunchStatus::ok;
  std::string message;                   ///< one line, unless status is ok
  std::vector<NestedLaunch> nested = {}; ///< what the kernel has launched, for the caller to launch
};

struct LaunchFeatures {
  bool cooperative = false;
  trace::Dim3 cluster{1, 1, 1}; ///< that the launch sets
  int capability = 0;           ///< of the GPU that the program sees
  std::uint32_t static_shared_bytes = 0;
  std::optional<trace::AccessWindow> window = {};
};

/// Runs all blocks to their end. The caller has checked the configuration (block of 1 to 1024 threads, no
/// dimension 0) and that `arguments` has the kernel's parameter_count pointers. A barrier that cannot
/// complete, and a finding of --memcheck, end the process with a message and exit code 1. Several host
/// threads may launch at once.
LaunchResult launch(const KernelRecord& kernel, const trace::Dim3& grid, const trace::Dim3& block,
                    std::size_t dynamic_shared_bytes, void** arguments, const char* demangled_name,
                    const LaunchFeatures& features, const std::vector<trace::MachineCode>& machine_code);

} // namespace warplens::cpu
