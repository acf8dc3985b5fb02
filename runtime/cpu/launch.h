// Runs a kernel: what cudaLaunchKernel comes down to on the CPU back end.
#pragma once

#include "runtime/cpu/abi.h"
#include "trace/records.h"

#include <cstddef>
#include <string>

namespace warplens::cpu {

enum class LaunchStatus {
  ok,
  trapped, ///< a thread executed trap or called abort_kernel: cudaErrorLaunchFailure or cudaErrorAssert, the
           ///< device's memory is as it was left
  faulted, ///< a thread accessed memory that is not there: cudaErrorIllegalAddress
  no_memory,   ///< for the threads that run at the same time: cudaErrorMemoryAllocation
  interrupted, ///< never returned: the program ends
};

struct LaunchResult {
  LaunchStatus status = LaunchStatus::ok;
  std::string message; ///< one line, where status is not ok
};

/// Runs all blocks to their end. The caller has checked the configuration (block of 1 to 1024 threads, no
/// dimension 0) and that `arguments` has the kernel's parameter_count pointers. A barrier that cannot
/// complete, and what --memcheck finds, ends the process with a message and exit code 1. Several host threads
/// may launch at once.
LaunchResult launch(const KernelRecord& kernel, const trace::Dim3& grid, const trace::Dim3& block,
                    std::size_t dynamic_shared_bytes, void** arguments, const char* demangled_name,
                    bool cooperative = false, const std::vector<trace::MachineCode>& machine_code = {});

} // namespace warplens::cpu
