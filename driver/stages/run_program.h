// Stage: instrumented program → trace; and the flow from there to the report, which `profile` and `run`
// share.
#pragma once

#include "driver/options.h"
#include "model/gpu.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

struct RunRequest {
  std::vector<std::string> command; ///< the program and its arguments
  std::string name;                 ///< how messages and the result call it
  std::filesystem::path trace;      ///< where the trace goes; empty: none is written
  TraceOptions options;
  std::optional<std::uint64_t> snapshot_blocks; ///< of a launch; empty: as the GPUs ask for
  std::vector<model::Gpu>
      gpus; ///< the snapshot is as large as the most demanding asks for; the program sees the first
  bool stdout_to_stderr = false; ///< our own result needs stdout
};

/// Is there an NVIDIA GPU here that programs may use?
bool gpu_present();

/// The file of --trace, else one in the temporary folder.
std::filesystem::path trace_path(const TraceOptions& options, const std::filesystem::path& temporary);

/// What there is to say of a program that did not end well, or nothing. An error means that it could not be
/// started.
Expected<std::string> run_program(const RunRequest& request, bool quiet);

/// run → model → report. A program that fails, or whose trace does, still gets its report from what was
/// collected; then the failure is the error.
Expected<void> trace_model_print(const RunRequest& request, const ModelOptions& model,
                                 const OutputOptions& output);

} // namespace warplens::driver
