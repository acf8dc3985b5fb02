// The array's initialisation has no expression of its own that a probe could go around.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void zeroed(int* out, const int* index, int n) {
  int bins[64] = {0}; // not seen
  for (int j = 0; j < n; ++j)
    bins[index[j]] += 1;
  int sum = 0;
  for (int j = 0; j < n; ++j)
    sum += bins[index[j] + 1];
  out[threadIdx.x] = sum;
}

int main() {
  int *index, *out;
  cudaMallocManaged(&index, 16 * sizeof(int));
  cudaMallocManaged(&out, 32 * sizeof(int));
  for (int j = 0; j < 16; ++j)
    index[j] = j / 2;
  zeroed<<<1, 32>>>(out, index, 16);
  cudaDeviceSynchronize();
  std::printf("%d\n", out[31]);
}
