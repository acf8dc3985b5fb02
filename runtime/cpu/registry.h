// Which kernel and which variable a host address stands for. Lowered device code registers its kernels and
// variables by symbol; the host half of each source registers the addresses that its code uses for them, with
// the same symbols. Either may come first.
#pragma once

#include "runtime/cpu/abi.h"
#include "trace/records.h"

#include <string>
#include <vector>

namespace warplens::cpu {

/// A kernel as the host sees it.
struct Kernel {
  std::string symbol;                                ///< mangled
  std::string module;                                ///< whose host half registered it
  std::string demangled;                             ///< for messages (support/display_name.h)
  const KernelRecord* record = nullptr;              ///< null: no device code of that name is linked in
  int max_dynamic_shared = 0;                        ///< bytes that cudaFuncSetAttribute has allowed
  int preferred_carveout = -1;                       ///< per cent; -1: the default
  std::vector<trace::MachineCode> machine_code = {}; ///< what is known of it on GPUs; there where record is
};

/// Null: no kernel has been registered for that address. The reference stays valid until the process ends.
Kernel* find_kernel(const void* host_function);

/// The newest architecture that a kernel of the program was compiled for (80 is sm_80); 0: there is none.
int newest_architecture();

/// Null: no variable has been registered for that address, or no device code defines it.
const VariableRecord* find_variable(const void* host_variable);

/// The variable of device code that the address points into, or null.
const VariableRecord* variable_at(const void* address);

/// `module`: whose host half does it. What several files name alike for themselves each has in its own.
void register_host_kernel(const void* host_function, const char* symbol, const char* module);
void register_host_variable(const void* host_variable, const char* symbol, const char* module);

/// As the programmer wrote it, short enough to read: the full name is in the trace.
std::string demangle(const std::string& symbol);

} // namespace warplens::cpu
