// nvcc takes spaces within a launch's brackets, and alignas behind __shared__.
// probes: 4
#include <cstdio>

__global__ void turn(int* numbers) {
  __shared__ alignas(16) int kept[32];
  kept[threadIdx.x] = numbers[threadIdx.x];
  __syncthreads();
  numbers[threadIdx.x] = kept[31 - threadIdx.x];
}

int main() {
  int* numbers;
  cudaMallocManaged(&numbers, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i)
    numbers[i] = i;
  turn<< <1, 32>> >(numbers);
  cudaDeviceSynchronize();
  std::puts(numbers[0] == 31 && numbers[31] == 0 ? "right" : "wrong");
}
