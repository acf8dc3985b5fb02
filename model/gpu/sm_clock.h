// A GPU at another clock of its SMs.
#pragma once

#include "model/gpu/gpu.h"

namespace warplens::model {

/// The clocks that an SM can be set to, in MHz.
inline constexpr double min_sm_clock_mhz = 50, max_sm_clock_mhz = 5000;

/// Sets the SM clock of the GPU and of its machines. What is on the SMs' side keeps its figures in cycles,
/// and so do the L2 and the way between its partitions where the L2's clock goes with the SMs'; memory, and
/// an L2 with a clock of its own, keep theirs in time.
void set_sm_clock(Gpu& gpu, double mhz);

} // namespace warplens::model
