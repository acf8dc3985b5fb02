// Programs whose kernels are held against a baseline, or recorded in one: what `baseline` and `gate` share.
#pragma once

#include "driver/options.h"
#include "driver/stages/build_program.h"
#include "result/baseline.h"
#include "result/result.h"
#include "support/expected.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace warplens::driver {

struct RecordingOptions {
  std::vector<std::string> files; ///< a program's sources, or results
  std::string baseline = "warplens-baseline.txt";
  SourceOptions source;
  ModelOptions model;
  TraceOptions trace;
  bool quiet = false;
};

/// Adds the files, --baseline, and what `profile` takes to run and model the program.
void add_recording_options(CLI::App& command, RecordingOptions& options);

/// A program, and what a baseline keeps of its kernels.
struct RecordedProgram {
  Result result;
  std::vector<RecordedKernel> kernels;
};

/// Reads the baseline's file; the error says how to make one. A file that is not there is an empty baseline
/// if `may_be_absent`.
Expected<Baseline> load_baseline(const std::string& file, bool may_be_absent);

/// Runs and models the program, or reads the results. Kernels that are as in the baseline are not modelled.
Expected<std::vector<RecordedProgram>> recorded_programs(const RecordingOptions& options,
                                                         const std::vector<std::string>& arguments,
                                                         const Baseline& known);

/// Returns whether the options let the program's kernel of the baseline run: --kernel may leave it out.
std::function<bool(const RecordedKernel&)> asked_for(const RecordingOptions& options);

/// Returns the command line of `warplens baseline` with the options that `command` was given, but for those
/// that only it has.
std::string record_command(const CLI::App& command, const std::vector<std::string>& arguments);

} // namespace warplens::driver
