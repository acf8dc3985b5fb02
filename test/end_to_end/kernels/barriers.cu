// Barriers whose executions and waits can be computed by hand: barriers_test.py. Each kernel has 4 warps in a
// block.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int threads = 128, blocks = 6, rounds = 5, chain = 64;

// All warps do the same between two barriers.
__global__ void even(int* out) {
  __shared__ int tile[threads];
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    tile[threadIdx.x] = out[blockIdx.x * threads + threadIdx.x] + round;
    __syncthreads(); // site: filled
    sum += tile[(threadIdx.x + 32) % threads];
    __syncthreads(); // site: read
  }
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

// The first warp follows a chain, the others wait for it.
__global__ void uneven(const int* next, int* out) {
  __shared__ int found;
  if (threadIdx.x < 32) {
    int at = blockIdx.x;
    for (int i = 0; i < chain; ++i)
      at = next[at];
    found = at;
  }
  __syncthreads(); // site: uneven
  out[blockIdx.x * threads + threadIdx.x] = found;
}

__device__ void meet() {
  __syncthreads(); // site: in a function
}

// The last warp ends before; the third has half of its lanes.
__global__ void variants(int* out) {
  const int t = threadIdx.x;
  if (t >= 80)
    return;
  const int count = __syncthreads_count(t % 2 == 0); // site: count
  const int all = __syncthreads_and(t < 80);         // site: and
  const int any = __syncthreads_or(t == 79);         // site: or
  meet();
  if (t == 0)
    out[blockIdx.x] = count * 100 + (all != 0) * 10 + (any != 0);
}

int main() {
  int *next, *out;
  cudaMallocManaged(&next, 4096 * sizeof(int));
  cudaMallocManaged(&out, blocks * threads * sizeof(int));
  for (int i = 0; i < 4096; ++i)
    next[i] = (i + 64) % 4096;
  for (int i = 0; i < blocks * threads; ++i)
    out[i] = i;
  even<<<blocks, threads>>>(out);
  cudaDeviceSynchronize();
  std::printf("even %s\n", out[0] == 5 * 32 + 10 && out[767] == 5 * (640 + 31) + 10 ? "right" : "wrong");
  uneven<<<blocks, threads>>>(next, out);
  cudaDeviceSynchronize();
  std::printf("uneven %s\n", out[0] == 0 && out[767] == 5 ? "right" : "wrong");
  variants<<<blocks, threads>>>(out);
  cudaDeviceSynchronize();
  std::printf("variants %s\n", out[0] == 4011 && out[5] == 4011 ? "right" : "wrong");
}
