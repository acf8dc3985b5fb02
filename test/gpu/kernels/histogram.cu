// A histogram of bytes in 256 bins: by atomics in global memory, and in shared memory with one set of bins
// per block that is added up at the end.
#include "program.h"

constexpr unsigned bins = 256, threads = 256, blocks = 264;

__global__ void histogram_global(unsigned count, const unsigned char* values, unsigned* counts) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[values[i]], 1u);
}

__global__ void histogram_shared(unsigned count, const unsigned char* values, unsigned* counts) {
  __shared__ unsigned own[bins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&own[values[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, 1024, 1 << 26, true);
  const unsigned count = program.size();
  reference::Random random(9);
  std::vector<unsigned char> values(count);
  std::vector<unsigned> expected(bins);
  for (unsigned char& value : values) {
    value = static_cast<unsigned char>(random.below(bins) & random.below(bins)); // some are more frequent
    ++expected[value];
  }
  const reference::Array<unsigned char> device_values(values);
  reference::Array<unsigned> counts(bins);

  program.measure("histogram_global", [&] {
    counts.clear();
    histogram_global<<<blocks, threads>>>(count, device_values.data(), counts.data());
  });
  program.judge("histogram_global", counts.values() == expected);
  program.measure("histogram_shared", [&] {
    counts.clear();
    histogram_shared<<<blocks, threads>>>(count, device_values.data(), counts.data());
  });
  program.judge("histogram_shared", counts.values() == expected);
  return program.exit_code();
}
