// `warplens ab` with -P or -L: one program in several configurations, in place of two versions.
#pragma once

#include "driver/options.h"
#include "driver/stages/build_program.h"
#include "driver/stages/configurations.h"
#include "judge/speed_verdict.h"
#include "support/expected.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace warplens::driver {

/// The options of `warplens ab`.
struct AbOptions {
  std::vector<std::string> files;
  std::string revision;                   ///< of A, where only one file is given
  std::vector<std::string> ranges, lists; ///< -P and -L: a name and what follows it, one after the other
  SourceOptions source;
  ModelOptions model;
  TraceOptions trace;
  std::string format = "text";
  OutputOptions output;
  double tolerance = judge::default_tolerance;
  bool exit_with_verdict = false;
};

/// Adds -P and -L.
void add_scan_options(CLI::App& command, AbOptions& options);

/// Profiles the program with each combination of the parameters' values and prints their times. A parameter
/// fills in `{NAME}` in the program's arguments and in --nvcc; one that neither has is a macro.
Expected<void> scan_program(const AbOptions& options, const std::vector<std::string>& arguments);

} // namespace warplens::driver
