// Reads ptxas's log about the kernels that it has compiled, and chooses the code that a GPU takes.
#pragma once

#include "trace/records.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::toolchain {

/// A kernel's machine code on GPUs of one compute capability.
struct KernelCode {
  std::string symbol; ///< nvcc's mangled name without -rdc
  trace::MachineCode code;
  std::filesystem::path cubin = {}; ///< empty: not kept
};

/// Returns the number of an architecture: "90a" → 90.
int architecture_number(const std::string& architecture);

/// The PTX that a GPU of this capability would take from a command for `architectures` ("75", "90a"; not
/// empty), and the architecture that its machine code is made for. The toolkit has no compiler for GPUs older
/// than all of them: they get the code of the oldest.
struct CodeChoice {
  std::string ptx, binary;
  bool operator==(const CodeChoice&) const = default;
};
CodeChoice choose_code(const std::vector<std::string>& architectures, int capability);

/// Reads the log of `ptxas -v` for each kernel in its module. Stack bytes are those of a whole call chain.
std::vector<KernelCode> read_ptxas(const std::string& log);

/// Returns a source in C that passes the figures to the CPU back end's runtime as the program starts
/// (runtime/abi/abi.h); the object that a compiler makes of it has the cubins, and the file of packed PTX
/// unless its name is empty. `module` is the module name in the host half of the object.
std::string machine_code_table(const std::vector<KernelCode>& codes, const std::string& module,
                               const std::filesystem::path& ptx = {});

} // namespace warplens::toolchain
