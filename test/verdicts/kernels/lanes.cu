// Lanes that go different ways, wait for each other, or have too few registers.
#include "kernels.h"

// says /divergence: [\d.]+ of 32 lanes execute an instruction in the mean/: each lane has another number of rounds
// never /nothing to mend/: lanes wait for the longest
__global__ void uneven_loops(const int* rounds, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int round = 0; round < rounds[i]; ++round)
    sum += in[(i + round * 4096) & (n - 1)] * sum + 1;
  out[i] = sum;
}

// says /only 1\.00 of 32 lanes active/: one lane of each warp works on memory
// never /nothing to mend/: 31 lanes are idle
__global__ void one_lane(const float* in, float* out, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 != 0)
    return;
  float sum = 0;
  for (int step = 0; step < steps; ++step)
    sum += in[(i + step * 8192) & (n - 1)];
  out[i] = sum;
}

// says /arrive unevenly: \d+ % of the warps' time is spent waiting here/: the first warp works, the others wait at the barrier
// never /nothing to mend/: most warps wait
__global__ void uneven_arrival(const float* in, float* out, int n) {
  __shared__ float sum;
  if (threadIdx.x < 32) {
    float part = 0;
    for (int step = threadIdx.x; step < 4096; step += 32)
      part += in[(blockIdx.x * 4096 + step) & (n - 1)];
    sum = part;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// says /spills: 32 registers a thread do not suffice/: 48 values live, in 32 registers
// says /limited by (registers|warps)/: the launch bounds ask for it
// never /nothing to mend/: each round stores and loads what has no register
__global__ __launch_bounds__(256, 8) void spilled(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[48];
#pragma unroll
  for (int k = 0; k < 48; ++k)
    v[k] = in[i + k * n];
  for (int round = 0; round < 16; ++round) {
#pragma unroll
    for (int k = 0; k < 48; ++k)
      v[k] = v[k] * v[(k + 7) % 48] + v[(k + 13) % 48];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 48; ++k)
    sum += v[k];
  out[i] = sum;
}

int main() {
  const int n = 1 << 20;
  float *in = zeros<float>(48 * n), *out = zeros<float>(n);
  int* rounds = filled<int>(n, [](std::size_t i) { return 1 + int(scattered(i, 64)); });
  uneven_loops<<<n / 1024, 256>>>(rounds, in, out, n);
  one_lane<<<n / 1024, 256>>>(in, out, 64, n);
  uneven_arrival<<<1024, 256>>>(in, out, n);
  spilled<<<(1 << 18) / 256, 256>>>(in, out, 1 << 18);
  DONE();
}
