// Stage: results and traces → kernels, for commands that take either.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "result/result.h"
#include "support/expected.h"

#include <span>
#include <string>
#include <vector>

namespace warplens::driver {

/// Returns whether the file is a trace, rather than a result.
bool is_trace(const std::string& file);

/// Reads the kernels of results, one file after the other, and models those of traces on each of the GPUs.
Expected<std::vector<KernelResult>> read_kernels(std::span<const std::string> files,
                                                 std::span<const model::Gpu> gpus,
                                                 const ModelOptions& options, const OutputOptions& output);

} // namespace warplens::driver
