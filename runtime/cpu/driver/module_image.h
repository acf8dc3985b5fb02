// The machine code in what a program loads as a module.
#pragma once

#include "support/expected.h"

#include <string>

namespace warplens::cpu {

/// Returns the cubin of an image: a cubin, the best one of a fatbin, or PTX, of which NVIDIA's assembler
/// makes one for the GPU that the program sees. Images have no length: a cubin and a fatbin have theirs in
/// their headers, PTX ends with a null.
Expected<std::string> cubin_of(const void* image);

} // namespace warplens::cpu
