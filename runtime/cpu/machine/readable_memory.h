// The memory of this process that device code may read: on the CPU back end every host address works on the
// device.
#pragma once

#include "machine/memory.h"

#include <vector>

namespace warplens::cpu {

/// Returns the readable ranges of the address space, ascending, as they are now.
std::vector<machine::Range> readable_memory();

} // namespace warplens::cpu
