// Shared and constant memory: a chase in each, and a warp's loads of one bank.
#include "measure.h"

namespace measure {
namespace {

constexpr unsigned steps = 256;

__constant__ unsigned constant_chain[512];

/// Chases in one lane. results: cycles of all steps in shared, in constant memory.
__global__ void chase_on_chip(long long* results) {
  __shared__ volatile unsigned chain[512];
  for (unsigned i = 0; i < 512; ++i)
    chain[i] = (i * 5 + 1) % 512;
  unsigned place = 0;
  long long start = clock64();
  for (unsigned i = 0; i < steps; ++i)
    place = chain[place];
  chain[0] = place;
  results[0] = clock64() - start;
  place = chain[0] % 512;
  for (unsigned i = 0; i < 512; ++i)
    place = constant_chain[place];
  chain[0] = place;
  start = clock64();
  for (unsigned i = 0; i < steps; ++i)
    place = constant_chain[place];
  chain[0] = place;
  results[1] = clock64() - start;
}

/// All lanes chase in one bank, each in words of its own: every load takes 32 passes.
__global__ void chase_in_one_bank(long long* results) {
  __shared__ volatile unsigned chain[32 * 32];
  for (unsigned i = 0; i < 32; ++i)
    chain[i * 32 + threadIdx.x] = (i + 1) % 32 * 32;
  __syncwarp();
  unsigned place = threadIdx.x * 32;
  const long long start = clock64();
  for (unsigned i = 0; i < steps; ++i)
    place = chain[place];
  chain[threadIdx.x] = place;
  if (threadIdx.x == 0)
    results[0] = clock64() - start;
}

} // namespace

void measure_on_chip(const Device& device, const std::string& folder) {
  unsigned chain[512];
  for (unsigned i = 0; i < 512; ++i)
    chain[i] = (i * 5 + 1) % 512;
  check(cudaMemcpyToSymbol(constant_chain, chain, sizeof chain), "constant memory");
  chase_on_chip<<<1, 1>>>(device.results);
  check(cudaDeviceSynchronize(), "on chip");
  const auto alone = results_of(device, 2);
  chase_in_one_bank<<<1, 32>>>(device.results);
  check(cudaDeviceSynchronize(), "on chip");
  const auto together = results_of(device, 1);
  Csv csv(folder, "on_chip", "what,cycles");
  csv.row("shared,%.2f\n", static_cast<double>(alone[0]) / steps);
  csv.row("shared_32_ways,%.2f\n", static_cast<double>(together[0]) / steps);
  csv.row("constant,%.2f\n", static_cast<double>(alone[1]) / steps);
}

} // namespace measure
