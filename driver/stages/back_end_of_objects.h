// Whether objects fit the link that they are given to.
#pragma once

#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// An error if one of these files (words that begin with `-` are none) was compiled for the CPU back end. To
/// nvcc's linkers such objects are broken, and what they say of them helps nobody.
Expected<void> check_made_for_gpu(const std::vector<std::string>& linking);

} // namespace warplens::driver
