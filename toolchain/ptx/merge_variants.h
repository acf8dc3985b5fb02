// Merges the two variants of each kernel into one PTX module: the user's own, under its own name, and the one
// with probes. The program launches the first, queries it and runs it at full speed; a traced launch runs the
// second.
#pragma once

#include "support/expected.h"

#include <string>
#include <string_view>

namespace warplens::toolchain {

/// Merges the two variants of the device half of one source for one architecture, compiled with the same
/// module id. Variables are shared, so that the variants of a program's kernels may follow each other in any
/// order. The kernels with probes can be launched with any number of threads that the user's own can. The
/// error says why the two cannot be merged.
Expected<std::string> merge_variants(std::string_view plain, std::string_view probed);

/// Checks that `probed` has each kernel of `plain`, so that it can replace it. The error names a missing one.
Expected<void> check_same_kernels(std::string_view plain, std::string_view probed);

} // namespace warplens::toolchain
