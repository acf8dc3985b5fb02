// Constant memory, and read-only loads, for other_caches_test.py. 80 blocks, one for each SM of a V100.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int blocks = 80, threads = 32, weights = 256;
__constant__ alignas(256) float weight[weights];

__global__ void uniform(float* out) {
  float sum = 0;
  for (int k = 0; k < weights; ++k)
    sum += weight[k]; // site: uniform
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void apart(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = weight[8 * threadIdx.x]; // site: apart
}

__global__ void twice(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    sum += __ldg(in + i); // site: read only
    sum += in[i];         // site: plain
    __syncthreads();      // lest one load serve for two
  }
  out[i] = sum;
}

int main() {
  float values[weights], *in, *out;
  for (int k = 0; k < weights; ++k)
    values[k] = float(k);
  cudaMemcpyToSymbol(weight, values, sizeof values);
  cudaMalloc(&in, blocks * threads * sizeof(float));
  cudaMalloc(&out, blocks * threads * sizeof(float));
  cudaMemset(in, 0, blocks * threads * sizeof(float));
  uniform<<<blocks, threads>>>(out);
  float first = 0;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  apart<<<blocks, threads>>>(out);
  twice<<<blocks, threads>>>(in, out);
  printf("%s\n", cudaDeviceSynchronize() == cudaSuccess && first == weights * (weights - 1) / 2 ? "right" : "wrong");
}
