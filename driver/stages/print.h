// Stage: result → what the person or tool asked for, where they asked for it.
#pragma once

#include "driver/options.h"
#include "result/result.h"
#include "support/expected.h"

#include <string>

namespace warplens::driver {

/// To stdout, or to the file of -o (written whole or not at all).
Expected<void> print(const Result& result, const OutputOptions& options);
Expected<void> print_text(const std::string& text, const std::string& file);

} // namespace warplens::driver
