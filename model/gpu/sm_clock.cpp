#include "model/gpu/sm_clock.h"

#include <initializer_list>

namespace warplens::model {

void set_sm_clock(Gpu& gpu, double mhz) {
  const double slower = gpu.clock_mhz / mhz;
  const auto stretch = [slower](std::initializer_list<double*> times) {
    for (double* time : times)
      *time *= slower;
  };
  const double l2_before = gpu.l2.latency_ns;
  stretch({&gpu.shared.latency_ns, &gpu.shared.pass_ns, &gpu.constant.latency_ns, &gpu.constant.pass_ns,
           &gpu.constant.group.latency_ns, &gpu.l1.latency_ns, &gpu.read_only.latency_ns,
           &gpu.texture.latency_ns});
  if (gpu.l2.has_sm_clock) {
    stretch({&gpu.l2.latency_ns, &gpu.l2.hop_ns});
    for (double* rate :
         {&gpu.l2.bytes_per_ns, &gpu.l2.write_bytes_per_ns, &gpu.l2.atomics_per_ns, &gpu.l2.hop_bytes_per_ns})
      *rate /= slower;
    gpu.dram.latency_ns += gpu.l2.latency_ns - l2_before; // of which the way to the L2 is a part
  }
  gpu.clock_mhz = mhz;
  for (Gpu& machine : gpu.machines)
    set_sm_clock(machine, mhz);
}

} // namespace warplens::model
