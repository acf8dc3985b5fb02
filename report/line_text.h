// Explains one line of the source: each of its accesses in figures and words, and what warps do there.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <cstdint>
#include <string>

namespace warplens::report {

/// Explains the line in every kernel, on every GPU, that accesses memory there. `file` is a file's whole name
/// in the result or its last part; empty: whichever file has accesses on that line. The error names the lines
/// that have some.
Expected<std::string> explain_line(const Result& result, const std::string& file, std::uint32_t line);

} // namespace warplens::report
