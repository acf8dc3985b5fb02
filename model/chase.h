// A pointer chase: one thread follows pointers in random cyclic order through a working set, one pointer per
// line. What GPUs have been measured with, and so what a GPU file's caches can be compared with.
#pragma once

#include "model/gpu.h"
#include "model/random.h"

#include <vector>

namespace warplens::model {

/// The lines 0 to lines − 1 in random order.
std::vector<std::uint32_t> chase_order(std::uint32_t lines, Random& random);

/// Mean latency of a load in nanoseconds, once two rounds have warmed the caches. The L1 has its largest
/// size.
double chase_latency_ns(const Gpu& gpu, std::uint32_t lines, Random random);

} // namespace warplens::model
