#include "model/scale/part_of_gpu.h"

#include <algorithm>

namespace warplens::model {

Gpu part_of_gpu(const Gpu& gpu, std::uint32_t sms, std::uint64_t l2_bytes) {
  Gpu part = gpu;
  const double share = double(sms) / gpu.sms;
  const auto rounded = [share](std::uint32_t number, std::uint32_t multiple) {
    return std::max(1u, std::uint32_t(std::lround(number * share / multiple))) * multiple;
  };
  part.sms = sms;
  part.l2_bytes = l2_bytes;
  part.l2.slices = rounded(gpu.l2.slices, gpu.l2.partitions);
  for (double* const rate : {&part.l2.bytes_per_ns, &part.l2.write_bytes_per_ns, &part.l2.atomics_per_ns,
                             &part.l2.hop_bytes_per_ns, &part.dram.bytes_per_cycle})
    *rate *= share;
  part.dram.channels = rounded(gpu.dram.channels, 1);
  part.dram.burst_ns *= part.dram.channels / (share * gpu.dram.channels);
  part.instances.clear();
  for (Gpu& machine : part.machines)
    machine = part_of_gpu(machine, sms, l2_bytes);
  return part;
}

} // namespace warplens::model
