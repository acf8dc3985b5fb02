// Launches that give the GPU too little to do at once, or in too small pieces.
#include "kernels.h"

__device__ float wait_for_memory(const float* in, int at, int n) {
  float sum = 0;
  for (int step = 0; step < 16; ++step) {
    const float value = in[at];
    sum += value;
    at = (at + 40503 * 32 + int(value)) & (n - 1);
  }
  return sum;
}

// says /few warps: \d+ of 64 on an SM, limited by shared memory: [\d,]+ B of shared memory a block instead of 65,536 would allow/: two blocks of 64 KB fit
// never /limited by registers|nothing to mend/: registers are not the limit
__global__ void large_shared(const float* in, float* out, int n) {
  extern __shared__ float buffer[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  buffer[threadIdx.x] = wait_for_memory(in, i, n);
  __syncthreads();
  out[i] = buffer[blockDim.x - 1 - threadIdx.x];
}

// says /few warps: 32 of 64 on an SM, limited by blocks: blocks of 64 threads would allow 64 warps|limited by blocks/: an SM has 32 places for blocks
// never /limited by (registers|shared memory)/: blocks of one warp are the limit
__global__ void small_blocks(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = wait_for_memory(in, i, n);
}

// says /partial warps: 33 threads take 2 warps, in which 48 % of the lanes are idle/: the second warp has one lane
// never /divergence/: the lanes that exist go the same way
__global__ void odd_blocks(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = wait_for_memory(in, i & (n - 1), n);
}

// says /tail: 1\.\d+ waves of [\d]+ blocks: the last \d+ blocks? run/: a few blocks more than fit at once
// never /nothing to mend/: the last blocks have the GPU to themselves
__global__ void small_tail(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int step = 0; step < 24; ++step)
    sum += wait_for_memory(in, (i + step * 77) & (n - 1), n);
  out[i] = sum;
}

// says /launch overhead: [\d.]+ of [\d.]+ µs are what any launch takes/: a hundred threads are no work
// never /uncoalesced|streaming|few warps/: nothing else matters
__global__ void tiny(float* out) { out[threadIdx.x] = threadIdx.x; }

// says /short blocks: beginning 131,072 blocks, one in a cycle, takes \d+ % of the time/: each thread does nearly nothing
// never /nothing to mend/: a loop over several elements would need fewer blocks
__global__ void short_blocks(const int* flags, int* out) {
  if (flags[blockIdx.x & 31] != 0)
    out[blockIdx.x] = 1;
}

int main() {
  const int n = 1 << 24;
  float *in = zeros<float>(n), *out = zeros<float>(n);
  CHECK(cudaFuncSetAttribute(large_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  large_shared<<<1024, 128, 65536>>>(in, out, n);
  small_blocks<<<1 << 15, 32>>>(in, out, n);
  odd_blocks<<<1 << 14, 33>>>(in, out, n);
  small_tail<<<108 * 8 + 9, 256>>>(in, out, n);
  tiny<<<1, 96>>>(out);
  short_blocks<<<1 << 17, 64>>>((const int*)in, (int*)out);
  DONE();
}
