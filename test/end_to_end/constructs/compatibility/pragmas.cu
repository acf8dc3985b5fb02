// A macro may stand for a pragma if the preprocessor leaves that in a line of its own.
// probes: 3
#include <cstdio>
#define UNROLL #pragma unroll
#define UNROLL_BY_4 #pragma unroll 4 // times

__global__ void sum(const int* from, int* to, const int* scale, int n) {
  int result = 0;
  UNROLL
  for (int i = 0; i < 8; ++i)
    result += from[i];
  UNROLL_BY_4
  for (int i = 0; i < n; ++i)
    result += *scale;
  to[threadIdx.x] = result;
}

int main() {
  int* memory;
  cudaMallocManaged(&memory, 64 * sizeof(int));
  for (int i = 0; i < 16; ++i)
    memory[i] = i;
  sum<<<1, 32>>>(memory, memory + 32, memory + 3, 9);
  std::puts(cudaDeviceSynchronize() == cudaSuccess && memory[63] == 28 + 27 ? "right" : "wrong");
}
