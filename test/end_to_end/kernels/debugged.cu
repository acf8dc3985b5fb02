// A program to be debugged: gdb_test.py finds its lines by the comments at their ends.
#include <cstdio>

struct Pair {
  int first;
  float second;
};

__device__ int calls = 0;

__device__ float scaled(const float* values, int index, float factor) {
  const float value = values[index]; // line: callee
  return value * factor;             // line: product
}

__global__ void blend(const float* in, float* out, int count, Pair pair) {
  __shared__ float tile[64];
  const int index = blockIdx.x * blockDim.x + threadIdx.x; // line: first
  const int unused = 5 * index;                            // line: unused
  if (index >= count)
    return;
  float sum = 0; // line: sum
  for (int step = 0; step < 3; ++step)
    sum += scaled(in, index, step + pair.second); // line: body
  tile[threadIdx.x] = sum; // line: store
  if (index == 0)
    calls += 1;
  __syncthreads();
  out[index] = tile[63 - threadIdx.x] + pair.first; // line: last
}

int main() {
  const int count = 256;
  float *in, *out;
  cudaMalloc(&in, count * sizeof(float));
  cudaMalloc(&out, count * sizeof(float));
  float host[count];
  for (int i = 0; i < count; ++i)
    host[i] = i;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  blend<<<count / 64, 64>>>(in, out, count, Pair{7, 0.5f}); // line: launch
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("out[0] %g\n", host[0]); // 4.5 * 63 + 7
}
