// The report of `warplens nvcc --report`: which sources have probes, which fell back and why, and which
// accesses are not seen.
#pragma once

#include "toolchain/objects/compilation_note.h"

#include <string>
#include <vector>

namespace warplens::driver {

struct ReportedFile {
  std::string file; ///< an object, a library or a program
  std::vector<toolchain::CompilationNote> notes;
};

/// Prints a line for each source; below it the unseen accesses by reason, the most frequent one first; at the
/// end the sums of several sources.
std::string report_as_text(const std::vector<ReportedFile>& files);
/// Prints the report as warplens-compilation-report/1.
std::string report_as_json(const std::vector<ReportedFile>& files);

} // namespace warplens::driver
