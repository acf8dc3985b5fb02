// Device code and variables of other files, which only -rdc=true gives.
#include <cstdio>

__device__ int doubled_and_counted(int x);
extern __device__ int counter;
extern __constant__ int offsets[4];

__global__ void call(int* result) {
  *result = doubled_and_counted(*result) + counter + offsets[1];
}

int main() {
  int *on_device, result = 1, count = 7;
  const int offset = 1000;
  cudaMalloc(&on_device, sizeof result);
  cudaMemcpy(on_device, &result, sizeof result, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(counter, &count, sizeof count);
  cudaMemcpyToSymbol(offsets, &offset, sizeof offset, sizeof(int));
  call<<<1, 1>>>(on_device);
  cudaMemcpy(&result, on_device, sizeof result, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  std::printf("%d %d\n", result, count); // 2 * 1 + 8 + 1000, 8
}
