// Stage: trace → result.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <vector>

namespace warplens::driver {

/// Returns the GPUs of --gpu, scheduled according to --schedule, --placement and --start; the error for an
/// unknown name lists the known ones.
Expected<std::vector<model::Gpu>> load_gpus(const ModelOptions& options);

/// Models every launch in the trace on every GPU. A trace without launches is an error; `name` is the
/// program's name in messages (empty: the trace's), `kernel` the regex that its launches had to match (empty:
/// none).
Expected<Result> simulate(const std::filesystem::path& trace, const std::vector<model::Gpu>& gpus,
                          const ModelOptions& options, const OutputOptions& output,
                          const std::string& name = "", const std::string& kernel = "");

} // namespace warplens::driver
