// The program's machine codes as the executor has them: each is loaded once, and never unloaded.
#pragma once

#include "machine/program.h"
#include "support/expected.h"
#include "trace/records.h"

#include <cstdint>
#include <map>
#include <string>

namespace warplens::cpu {

struct LoadedKernel {
  const machine::Program* program = nullptr;
  const machine::Kernel* kernel = nullptr;
};

/// Any thread may call it. The error says why the code cannot be executed.
Expected<LoadedKernel> load_kernel(const trace::MachineCode& code);

/// Returns where the program's variables lie, by the names in its machine code. `module` is that of the
/// kernel. What the program's own code has no use for is not among them: literals, tables of the compiler's,
/// and what Clang has folded. The cubin's image of these is right; were it not, the comparison of what both
/// wrote would tell.
std::map<std::string, std::uint64_t, std::less<>> addresses_of_variables(const machine::Program& program,
                                                                         const char* module);

} // namespace warplens::cpu
