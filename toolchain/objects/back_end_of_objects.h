// Checks that objects fit the link that they are given to.
#pragma once

#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::toolchain {

/// Returns an error if one of these files (words that begin with `-` are none) was compiled for the CPU back
/// end. nvcc's linkers take such objects for broken, and their messages do not explain it.
Expected<void> check_made_for_gpu(const std::vector<std::string>& linking);

} // namespace warplens::toolchain
