// The known properties of a kernel's machine code on a GPU.
#pragma once

#include "model/gpu/gpu.h"
#include "result/result.h"
#include "trace/records.h"

#include <optional>

namespace warplens::model {

/// Returns the properties of the code that trace::machine_code_for() finds; else the registers alone, if the
/// device on which the program ran has reported them.
std::optional<CompiledKernel> compiled_for(const Gpu& gpu, const trace::Launch& launch);

} // namespace warplens::model
