// Runs one compiler, quietly.
#pragma once

#include "support/expected.h"
#include "support/process.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// What it printed. If it fails, the error is its first line that names one (file:line:column: error:
/// reason), as the user wrote that line (user_text.h).
Expected<std::string> run_compiler(const std::vector<std::string>& arguments);
/// The same for a command with an environment of its own. What it says goes to `stdout_file` and
/// `stderr_file` where the command has them.
Expected<std::string> run_compiler(Command command);

} // namespace warplens::driver
