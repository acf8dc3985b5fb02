// Runs one compiler, quietly.
#pragma once

#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// What it printed. If it fails, the error is its first line that names one (file:line:column: error:
/// reason).
Expected<std::string> run_compiler(const std::vector<std::string>& arguments);

} // namespace warplens::driver
