// Which kernel and which variable a host address stands for. Lowered device code registers its kernels and
// variables by symbol; the host half of each source registers the addresses that its code uses for them, with
// the same symbols. Either may come first.
#pragma once

#include "runtime/cpu/abi.h"

#include <string>

namespace warplens::cpu {

/// A kernel as the host sees it.
struct Kernel {
  std::string symbol;                   ///< mangled
  std::string demangled;                ///< in full, with parameters
  const KernelRecord* record = nullptr; ///< null: no device code of that name is linked in
  int max_dynamic_shared = 0;           ///< bytes that cudaFuncSetAttribute has allowed
  int preferred_carveout = -1;          ///< per cent; -1: the default
};

/// Null: no kernel has been registered for that address. The reference stays valid until the process ends.
/// Ends the program, with a message, where several files have device functions of that name that cannot be
/// told apart.
Kernel* find_kernel(const void* host_function);

/// Null: no variable has been registered for that address, or no device code defines it. Ends the program as
/// find_kernel does.
const VariableRecord* find_variable(const void* host_variable);

/// The variable of device code that the address points into, or null.
const VariableRecord* variable_at(const void* address);

void register_host_kernel(const void* host_function, const char* symbol);
/// `managed`: host code uses the variable itself and not only its address.
void register_host_variable(const void* host_variable, const char* symbol, bool managed);

std::string demangle(const std::string& symbol);

} // namespace warplens::cpu
