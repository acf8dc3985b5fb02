// More values than the registers that each thread may have.
#include <cstdio>

constexpr int values = 48, threads = 256, blocks = 8;

__global__ void __launch_bounds__(threads, 8) limited(const float* in, float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[values];
#pragma unroll
  for (int k = 0; k < values; ++k)
    v[k] = in[i + k * blocks * threads];
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < values; ++k)
      v[k] = v[k] * v[(k + 7) % values] + v[(k + 13) % values];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < values; ++k)
    sum += v[k];
  out[i] = sum;
}

int main() {
  const int n = blocks * threads;
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * n * values);
  cudaMalloc(&out, sizeof(float) * n);
  cudaMemset(in, 0, sizeof(float) * n * values);
  limited<<<blocks, threads>>>(in, out, 16);
  limited<<<blocks, threads>>>(in, out, 32);
  float first = 1;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  std::puts(first == 0 ? "right" : "wrong");
}
