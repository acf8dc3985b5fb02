// The structures that an array consists of.
#pragma once

#include "placement/arrays.h"

#include <cstdint>

namespace warplens::placement {

/// Returns the bytes of the structures that an array in global memory consists of; 0: of none.
std::uint64_t structure_bytes(const Array& array);

} // namespace warplens::placement
