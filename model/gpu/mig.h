// A GPU that MIG divides: instances with SMs, slices of the L2 and channels of memory of their own.
#pragma once

#include "model/gpu/gpu.h"
#include "model/gpu/toml_figures.h"

#include <vector>

namespace warplens::model {

/// The slices and eighths of memory that the instances of a GPU can have together.
inline constexpr std::uint32_t mig_slices = 7, mig_memory_eighths = 8;

/// Reads [mig] of a GPU file; returns nothing where there is none.
std::vector<Gpu::Instance> read_instances(TomlFigures& figures, std::uint32_t sms);

/// Returns the instance of that many slices. The error says which there are, or that there are none.
Expected<Gpu::Instance> instance_of(const Gpu& gpu, double slices);

/// Returns what an instance has as a GPU: its SMs, and its part of the L2, of memory and of their rates. One
/// with half of the memory or less lies in one partition of the L2.
Gpu part_of(const Gpu& gpu, const Gpu::Instance& instance);

} // namespace warplens::model
