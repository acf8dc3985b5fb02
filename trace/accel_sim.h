// Exports a trace in the form that Accel-Sim's trace-driven simulator reads (its gpu-simulator/trace-parser/
// trace_parser.cc; tracer version 3): a list of kernels, and a file of instructions for each.
#pragma once

#include "support/expected.h"
#include "trace/reader.h"

#include <functional>
#include <string>

namespace warplens::trace {

using WriteFile = std::function<Expected<void>(const std::string& name, const std::string& text)>;

/// Makes a file for each traced launch, and then `kernelslist.g`. The instructions are those that access
/// memory, barriers and each warp's end; registers stand for the dependences between sites. Holds one
/// launch's instructions in memory. docs/accel-sim.md says what each access becomes.
Expected<void> export_accel_sim(const Reader& reader, const WriteFile& write_file);

} // namespace warplens::trace
