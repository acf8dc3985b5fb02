// What is known of a kernel's machine code on a GPU.
#pragma once

#include "model/gpu.h"
#include "result/result.h"
#include "trace/records.h"

#include <optional>

namespace warplens::model {

/// By trace::machine_code_for; else the registers alone, if the device that the program ran on has told them.
std::optional<CompiledKernel> compiled_for(const Gpu& gpu, const trace::Launch& launch);

} // namespace warplens::model
