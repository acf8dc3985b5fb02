// The figures of a kernel that are known before any trial: occupancy, spills, coalescing and bank conflicts.
#pragma once

#include "result/result.h"

#include <string>

namespace warplens::report {

/// Returns a few lines on the kernel for a terminal, of at most 100 columns: its occupancy and registers, and
/// the accesses with more sectors or passes than they need, most requests first. `kernel` needs no time and
/// no rates.
std::string print_preview(const KernelResult& kernel);

} // namespace warplens::report
