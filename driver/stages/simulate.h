// Stage: trace → result.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <vector>

namespace warplens::driver {

/// Returns the GPUs of --gpu, scheduled according to --schedule, --placement and --start; the error for an
/// unknown name lists the known ones.
Expected<std::vector<model::Gpu>> load_gpus(const ModelOptions& options);

/// Models on every GPU each launch in the trace whose kernel's name matches the regex `kernel` in some part
/// (empty: all launches). A trace without such a launch is an error; `name` is the program's name in messages
/// (empty: the trace's). A launch whose identity a kernel of `known` has on every GPU is not modelled again:
/// that one stands for it. Null: all are.
Expected<Result> simulate(const trace::Reader& trace, const std::vector<model::Gpu>& gpus,
                          const ModelOptions& options, const OutputOptions& output,
                          const std::string& kernel = "", const std::string& name = "",
                          const Result* known = nullptr);

} // namespace warplens::driver
