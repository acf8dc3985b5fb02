// Stage: instrumented program → trace; and the flow from there to the report, which `profile` and `run`
// share.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "result/result.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

struct RunRequest {
  std::vector<std::string> command; ///< the program and its arguments
  std::string name;                 ///< the program's name in messages and in the result
  std::filesystem::path trace;      ///< the trace to write; empty: none is written
  std::vector<std::string> sources; ///< the program's, for the result's manifest; empty: not known
  std::string nvcc;                 ///< nvcc's arguments, likewise
  TraceOptions options;
  std::optional<std::uint64_t> snapshot_blocks; ///< the blocks of a launch; empty: as the GPUs require
  std::vector<model::Gpu>
      gpus; ///< the snapshot is as large as the most demanding GPU requires; the program sees the first
  /// The capabilities of GPUs for which machine code is made as the program runs, where that does not have
  /// it.
  std::vector<int> assembled_for;
  bool leaves_out_loops = false; ///< the trace may leave out iterations of loops that repeat
  bool stdout_to_stderr = false; ///< our own result needs stdout
};

/// Returns the request to run a program with these arguments for these GPUs, which has neither a name nor a
/// trace so far.
RunRequest run_request(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const TraceOptions& options, const ModelOptions& model,
                       const std::vector<model::Gpu>& gpus);

/// Returns whether there is an NVIDIA GPU here that programs may use.
bool gpu_present();

/// Returns the file of --trace, else one in the temporary folder.
std::filesystem::path trace_path(const TraceOptions& options, const std::filesystem::path& temporary);

/// Returns the place of the trace of a program's process by its number, from 0 on.
std::filesystem::path trace_of_process(std::filesystem::path trace, std::size_t index);

/// Runs the program. Returns a message about a program that did not end well, or an empty string. An error
/// means that it could not be started.
Expected<std::string> run_program(const RunRequest& request, bool quiet);

/// A traced program that has ended.
struct TracedProgram {
  std::string ending; ///< as of run_program()
  /// Those of the processes that launched kernels, in the order of their process ids; that of any other one
  /// if there is none. At least one.
  std::vector<trace::Reader> traces;
};

/// Runs the program, which must leave a trace, in place of an older one, and opens that. A program of several
/// processes leaves several: the first at `request.trace`, the others beside it, numbered from 2.
Expected<TracedProgram> trace_program(const RunRequest& request, bool quiet);

/// Returns the trace of a program of one process; the error names the processes of another one.
Expected<trace::Reader> only_trace(TracedProgram program, const std::string& name);

/// A program that was traced and modelled.
struct ModelledProgram {
  Result result;
  std::string ending; ///< as of run_program(): then the result is of what was collected
};

/// Runs the program and the model. Kernels that are as in `known` are not modelled again; null: all are
/// modelled.
Expected<ModelledProgram> trace_and_model(RunRequest request, const ModelOptions& model,
                                          const OutputOptions& output, const Result* known = nullptr);

/// Returns the same as a result of the whole program: the error is a program's that did not end well, since
/// half of a run compares with nothing.
Expected<Result> whole_result(const RunRequest& request, const ModelOptions& model,
                              const OutputOptions& output, const Result& known);

/// Runs the program, the model and the report. A program that fails, or whose trace does, still gets its
/// report from the collected part; then the failure is the error.
Expected<void> trace_model_print(const RunRequest& request, const ModelOptions& model,
                                 const OutputOptions& output);

} // namespace warplens::driver
