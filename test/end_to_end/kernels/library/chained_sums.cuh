// Kernels as a library's: their accesses have no probes, and the file has a constant object that only device code names.
#pragma once
#pragma GCC system_header

namespace chained_sums {

struct Plus {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
static __device__ constexpr Plus plus{};

/// Each block waits for the one before it, adds its number to that one's sum, and passes the sum on.
__global__ void chain(volatile int* sums, volatile int* flags) {
  if (threadIdx.x == 0) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0)
        ;
      __threadfence();
      sum = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = plus(sum, int(blockIdx.x));
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

/// Reads one word again and again, which does not change, `steps` times.
__global__ void counted(const volatile int* word, int* sum, int steps) {
  int all = 0;
  for (int i = 0; i < steps; ++i)
    all = plus(all, *word);
  sum[threadIdx.x] = all;
}

} // namespace chained_sums
