// Describes a kernel's machine code in a few words.
#pragma once

#include "result/result.h"

#include <optional>
#include <string>

namespace warplens::report {

/// Returns "96 per thread (ptxas, sm_80), 564 bytes spilled", "not known".
std::string registers(const std::optional<CompiledKernel>& compiled);

} // namespace warplens::report
