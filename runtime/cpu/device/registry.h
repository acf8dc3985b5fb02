// Maps host addresses to kernels and variables. Lowered device code registers its kernels and variables by
// symbol; the host half of each source registers the addresses that its code uses for them, with the same
// symbols. Either may register first.
#pragma once

#include "runtime/abi/abi.h"
#include "runtime/cpu/device/loaded_library.h"
#include "trace/records.h"

#include <string>
#include <vector>

namespace warplens::cpu {

/// A kernel as the host sees it.
struct Kernel {
  std::string symbol;                                ///< mangled
  std::string module;                                ///< the module whose host half registered it
  std::string demangled;                             ///< the name in messages (support/display_name.h)
  const KernelRecord* record = nullptr;              ///< null: the program has no device code for the symbol
  int max_dynamic_shared = 0;                        ///< bytes that cudaFuncSetAttribute has allowed
  bool allows_large_clusters = false;                ///< of more than the portable 8 blocks
  int preferred_carveout = -1;                       ///< per cent; -1: the default
  std::vector<trace::MachineCode> machine_code = {}; ///< NVIDIA's machine code; known if record is
};

/// Returns null if no kernel is registered for the address. The reference stays valid until the process ends.
Kernel* find_kernel(const void* host_function);

/// Returns the address that stands for a kernel of device code in the host's, null if there is none; of
/// several of one symbol that of the module.
const void* host_function_of(const std::string& symbol, const std::string& module);

/// Adds a kernel that only machine code has, and launches: an instance of a template that nothing else names.
/// `launching`: the kernel that launches it. Returns the address that stands for it, null if no machine code
/// has it.
const void* add_kernel_of_machine_code(const std::string& symbol, const Kernel& launching,
                                       const std::vector<ParameterRecord>& parameters);

/// Returns the symbols of the kernels that the program can launch, as written in the source.
std::vector<std::string> host_kernel_symbols();

/// Returns the newest architecture that a kernel of the program was compiled for (80 is sm_80); 0 if there is
/// none.
int newest_architecture();

/// Returns null if no variable is registered for the address, or no device code defines it.
const VariableRecord* find_variable(const void* host_variable);

/// Returns the variable that the machine code of the module's object has under this name; null if there is
/// none.
const VariableRecord* find_device_variable(const std::string& name, const char* module);

/// Returns the variable of device code that the address points into, or null.
const VariableRecord* variable_at(const void* address);

/// Registers a kernel; `module` is that of the calling host half, which distinguishes internal symbols of
/// several files.
void register_host_kernel(const void* host_function, const char* symbol, const char* module);
void register_host_variable(const void* host_variable, const char* symbol, const char* module);

/// Registers a kernel of a module that the program has loaded, which has its record; the handle stands for
/// it.
void register_loaded_kernel(const void* handle, Kernel kernel);
void forget_loaded_kernel(const void* handle);

/// Forgets the kernels and variables of a library that is being unloaded. The program's own stay, since other
/// destructors may still launch: returns false.
bool forget_library(const void* library);

/// Returns the name as written in the source, shortened for messages: the full name is in the trace.
std::string demangle(const std::string& symbol);

} // namespace warplens::cpu
