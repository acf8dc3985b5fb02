// Kernels of which eight blocks fill an SM, for the search of how many of each two of them should have there: a
// copy, chains of products in double and in single precision, and turns at a barrier.
//
// Usage: partners
#include "program.h"

constexpr int threads = 256, blocks = 640;

__global__ void copies(const float4* in, float4* out) {
  const int i = blockIdx.x * threads + threadIdx.x;
  out[i] = in[i];
}

__global__ void products(double* out, int steps) {
  double value = threadIdx.x;
  for (int step = 0; step < steps; ++step)
    value *= 1.000001;
  out[blockIdx.x * threads + threadIdx.x] = value;
}

__global__ void sums(float* out, int steps) {
  float a = threadIdx.x, b = 1, c = 2, d = 3;
  for (int step = 0; step < steps; ++step) {
    a = a * 1.01f + b;
    b = b * 1.02f + c;
    c = c * 1.03f + d;
    d = d * 1.04f + a;
  }
  out[blockIdx.x * threads + threadIdx.x] = a + b + c + d;
}

__global__ void turns(float* out, int steps) {
  __shared__ float tile[threads];
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    tile[threadIdx.x] = sum + step;
    __syncthreads();
    sum += tile[(threadIdx.x * 7 + step) % threads];
    __syncthreads();
  }
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

int main() {
  float4 *in = allocate<float4>(blocks * threads), *out = allocate<float4>(blocks * threads);
  double* doubles = allocate<double>(blocks * threads);
  float* floats = allocate<float>(blocks * threads);
  copies<<<blocks, threads>>>(in, out);
  products<<<blocks, threads>>>(doubles, 60);
  sums<<<blocks, threads>>>(floats, 60);
  turns<<<blocks, threads>>>(floats, 40);
  return finish();
}
