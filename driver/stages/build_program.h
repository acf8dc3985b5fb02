// Stage: the user's sources → a program with probes, as `profile` and `sweep` run it.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "support/expected.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

struct ProgramOptions {
  std::vector<std::string> files;
  Backend backend = Backend::automatic;
  std::string nvcc;       ///< what nvcc is given, as one word
  bool no_probes = false; ///< built as it is
};

/// Declares the sources, --backend and --nvcc.
void add_program_options(CLI::App& command, ProgramOptions& options);

/// Instruments and builds the program in the folder, for the first of the GPUs, and returns its path.
Expected<std::filesystem::path> build_program(const ProgramOptions& options, const TraceOptions& trace,
                                              const std::vector<model::Gpu>& gpus,
                                              const std::filesystem::path& directory, bool quiet);

} // namespace warplens::driver
