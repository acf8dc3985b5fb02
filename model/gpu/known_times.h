// Says if trials on a clock give the time of a kernel, and why not.
#pragma once

#include "model/gpu/gpu.h"

#include <string>

namespace warplens::model {

/// Returns why a GPU's trials give no time of a kernel, as the end of "… is not known, because"; empty if
/// they do. Without machine code the issue between accesses is a guess, which stands only where times were
/// measured on a GPU of its generation: on a K40 for Kepler, on none for Fermi.
std::string why_times_are_unknown(const Gpu& gpu);

} // namespace warplens::model
