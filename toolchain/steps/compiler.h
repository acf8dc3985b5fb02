// Runs one compiler and captures its output.
#pragma once

#include "support/expected.h"
#include "support/process.h"

#include <string>
#include <vector>

namespace warplens::toolchain {

/// Returns the compiler's output. If it fails, the error is the first line that names one (file:line:column:
/// error: reason), as the user wrote that line (user_text.h).
Expected<std::string> run_compiler(const std::vector<std::string>& arguments);
/// Does the same for a command with an environment of its own. The output goes to the command's `stdout_file`
/// and `stderr_file` if it has them.
Expected<std::string> run_compiler(Command command);

} // namespace warplens::toolchain
