// Stage: result → what the person or tool asked for, where they asked for it.
#pragma once

#include "driver/options.h"
#include "result/result.h"
#include "support/expected.h"

#include <filesystem>
#include <string>

namespace warplens::driver {

/// To stdout, or to the file of -o (written whole or not at all).
Expected<void> print(const Result& result, const OutputOptions& options);
/// Could the file be created or overwritten? It is left as it is. An empty name stands for stdout.
Expected<void> check_writable(const std::filesystem::path& file);
Expected<void> print_text(const std::string& text, const std::string& file);

} // namespace warplens::driver
