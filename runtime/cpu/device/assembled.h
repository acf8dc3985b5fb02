// Lets NVIDIA's assembler make machine code of the program's PTX for the GPUs that `warplens run` names,
// which were not known when the program was built.
#pragma once

#include "runtime/abi/abi.h"

#include <cstdint>
#include <set>
#include <vector>

namespace warplens::cpu {

/// Returns the machine code of a source's kernels, but for GPUs of the known capabilities. `warplens run`
/// names in WARPLENS_CAPABILITIES the GPUs that need some ("80 90"), in WARPLENS_ASSEMBLER the program that
/// makes it, and in WARPLENS_ASSEMBLED a folder for it; without these variables, or if it cannot be made,
/// there is none. The records live until the process ends.
std::vector<const CompiledRecord*> assembled(const PtxRecord& ptx, const std::set<std::uint32_t>& known);

} // namespace warplens::cpu
