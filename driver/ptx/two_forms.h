// One PTX module in which each kernel is there twice: as the user wrote it, under its own name, and with
// probes. The first is what the program launches, asks about and runs at full speed; the second is what a
// traced launch runs.
#pragma once

#include "support/expected.h"

#include <string>
#include <string_view>

namespace warplens::driver::ptx {

/// Both are the device half of one source for one architecture, compiled with the same module id. Variables
/// are shared, so that the two forms of a program's kernels may follow each other in any order. The kernels
/// with probes can be launched with any number of threads that the user's own can. The error says what keeps
/// the two apart.
Expected<std::string> join_forms(std::string_view plain, std::string_view probed);

/// Has `probed` each kernel of `plain`, so that it can do without it? The error names one that it has not.
Expected<void> check_same_kernels(std::string_view plain, std::string_view probed);

} // namespace warplens::driver::ptx
