// A smaller machine of the same kind: some of the SMs, with as large a part of all that SMs share.
#pragma once

#include "model/gpu/gpu.h"

namespace warplens::model {

/// Returns the GPU with `sms` of its SMs, and as large a part of the L2's slices and bandwidths, of the
/// channels of DRAM and of the way between the L2's partitions. Latencies stay, as does what each SM has.
/// Whole numbers of slices and channels are rounded, and their speeds make up for it, so that bandwidths per
/// SM are the GPU's. The L2's size is the caller's: data that all SMs read takes no less room for fewer of
/// them (GPU scale models: SeyyedAghaei, Naderan-Tahan, Eeckhout, HPCA 2024).
Gpu part_of_gpu(const Gpu& gpu, std::uint32_t sms, std::uint64_t l2_bytes);

} // namespace warplens::model
