// Stage: the user's sources → a program with probes: instrument and build, for the commands that begin with
// sources.
#pragma once

#include "driver/options.h"
#include "model/gpu/gpu.h"
#include "support/expected.h"
#include "support/temporary.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

/// The sources of a program, and how it is compiled.
struct SourceOptions {
  std::vector<std::string> files;
  Backend backend = Backend::automatic;
  std::string nvcc; ///< nvcc's arguments as one word
  bool no_probes = false;
};

/// Adds --backend and --nvcc.
void add_source_options(CLI::App& command, SourceOptions& options);

/// Compiles the sources with probes (without them on request) into the directory; returns the program. The
/// machine code of its kernels is compiled for the GPUs. `trace`: the checks that it makes while it runs.
Expected<std::filesystem::path> build_program(const SourceOptions& options, const TraceOptions& trace,
                                              const std::vector<model::Gpu>& gpus,
                                              const std::filesystem::path& directory, bool quiet);

} // namespace warplens::driver
