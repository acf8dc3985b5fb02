// Stage: what profilers wrote → the counters of launches.
#pragma once

#include "import/kernel_counters.h"
#include "support/expected.h"

#include <string>
#include <vector>

namespace warplens::driver {

/// Reads the files, which may be of several profilers, as one list of launches; Nsight Compute's page
/// `source` adds lines to the launches of the files before it. A report of Nsight Compute is read by
/// NVIDIA's Python module ncu_report where that is installed, as it knows every version of the format, and
/// else by our own reader. An error begins with the file's name.
Expected<std::vector<import::KernelCounters>> read_measured(const std::vector<std::string>& files,
                                                            const import::NcuOptions& options);

} // namespace warplens::driver
