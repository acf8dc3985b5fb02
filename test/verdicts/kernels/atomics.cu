// Atomics, on few and on many addresses.
#include "kernels.h"

// says /contended/: all warps add to one word
// never /nothing to mend|streaming/: the L2 takes them one after the other
__global__ void count(unsigned* counter, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(counter, 1u);
}

// says /contended|too many atomics/: 256 counters for a million threads
// never /nothing to mend/: a block could count in shared memory first
__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1u);
}

// says /contended: [\d.]+ extra passes per request, for lanes at the same word or bank|narrow: 1 B for each lane/: bytes are read one by one and counted in shared memory
// never /nothing to mend|uncoalesced/: neither the loads nor the counts are at a limit of memory
__global__ void histogram_shared(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// never /contended|scattered/: each thread has a word of its own, which lie side by side
__global__ void add_each(unsigned* sums, const unsigned* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&sums[i], in[i]);
}

int main() {
  const int n = 1 << 22;
  unsigned char* in = filled<unsigned char>(n, [](std::size_t i) { return (unsigned char)scattered(i, 256); });
  unsigned *bins = zeros<unsigned>(256), *sums = zeros<unsigned>(n), *more = zeros<unsigned>(n);
  count<<<n / 256, 256>>>(bins, n);
  histogram<<<432, 256>>>(in, bins, n);
  histogram_shared<<<432, 256>>>(in, bins, n);
  add_each<<<n / 256, 256>>>(sums, more, n);
  DONE();
}
