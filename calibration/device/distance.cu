// Near and far: each SM loads lines that another SM has brought into the L2.
#include "measure.h"

namespace measure {
namespace {

__device__ unsigned own_sm() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

/// Returns whether this block works: only the first on SM `sm` does.
__device__ bool is_chosen(unsigned sm, unsigned* taken) {
  return threadIdx.x == 0 && own_sm() == sm && atomicExch(taken, 1u) == 0;
}

__global__ void bring(unsigned sm, const char* lines, unsigned count, unsigned apart, unsigned* taken) {
  if (!is_chosen(sm, taken))
    return;
  for (unsigned i = 0; i < count; ++i)
    Cg::load(lines + static_cast<unsigned long long>(i) * apart);
}

/// results: cycles of the first and the second load of each line, or nothing if no block ran on that SM.
__global__ void load_twice(unsigned sm, const char* lines, unsigned count, unsigned apart, unsigned* taken,
                           long long* results) {
  __shared__ volatile unsigned long long used;
  if (!is_chosen(sm, taken))
    return;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned again = 0; again < 2; ++again)
      results[2 * i + again] =
          timed_load<Cg>(lines + static_cast<unsigned long long>(i) * apart, again ? used : 0, &used);
}

} // namespace

void measure_distance(const Device& device, const std::string& folder, double seconds) {
  constexpr unsigned lines = 64, apart = 4096 + 128;
  const Deadline deadline(seconds);
  const auto sms = static_cast<unsigned>(device.properties.multiProcessorCount);
  check(cudaMemset(device.memory, 0, device.bytes), "memory");
  flush(device);
  unsigned* taken = nullptr;
  check(cudaMalloc(&taken, 2 * sizeof *taken), "distance");
  Csv csv(folder, "distance", "sm,load,cycles");
  for (unsigned sm = 0; sm < sms && !deadline.passed(); ++sm) {
    const char* const own = device.memory + std::size_t{sm} * lines * apart;
    if (own + lines * apart > device.memory + device.bytes)
      break;
    check(cudaMemset(taken, 0, 2 * sizeof *taken), "distance");
    check(cudaMemset(device.results, 0xff, 2 * lines * sizeof *device.results), "distance");
    bring<<<8 * sms, 32>>>(0, own, lines, apart, taken);
    load_twice<<<8 * sms, 32>>>(sm, own, lines, apart, taken + 1, device.results);
    check(cudaDeviceSynchronize(), "distance");
    const auto results = results_of(device, 2 * lines);
    for (unsigned i = 0; i < 2 * lines; ++i)
      if (results[i] >= 0)
        csv.row("%u,%u,%lld\n", sm, i % 2, results[i]);
  }
  cudaFree(taken);
}

} // namespace measure
