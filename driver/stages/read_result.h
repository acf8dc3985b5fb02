// Stage: a result's file → the result.
#pragma once

#include "result/result.h"
#include "support/expected.h"

#include <string>

namespace warplens::driver {

/// Reads a result that --format json wrote.
Expected<Result> read_result(const std::string& file);

} // namespace warplens::driver
