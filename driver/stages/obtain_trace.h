// Stage: a trace, or sources whose program leaves one → a trace's reader; for the commands that take either.
#pragma once

#include "driver/options.h"
#include "driver/stages/build_program.h"
#include "model/gpu/gpu.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warplens::driver {

/// Returns whether the file is a source: by its name.
bool is_source(const std::string& file);

/// Returns an error if an option of building, running or tracing was given where all files are traces.
Expected<void> refuse_program_options(const SourceOptions& source, const TraceOptions& trace,
                                      const std::vector<std::string>& program_arguments);

/// Opens the trace, or builds the sources, runs the program in the directory and opens the trace that it
/// leaves. The trace stays where --trace says. The error says what failed, or that no kernel was launched.
Expected<trace::Reader> obtain_trace(const SourceOptions& source, const TraceOptions& trace,
                                     const ModelOptions& model, const std::vector<model::Gpu>& gpus,
                                     const std::vector<std::string>& program_arguments,
                                     const std::filesystem::path& directory, bool quiet);

} // namespace warplens::driver
