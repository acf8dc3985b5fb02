// Code for one of the architectures that the command line names has its probes, too.
// flags: -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90
// probes: 3
#include <cstdio>

__global__ void twice(int* numbers) {
#if __CUDA_ARCH__ >= 900
  numbers[threadIdx.x] <<= 1;
#else
  numbers[threadIdx.x] = 2 * numbers[threadIdx.x];
#endif
}

int main() {
  int* numbers;
  cudaMallocManaged(&numbers, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i)
    numbers[i] = i;
  twice<<<1, 32>>>(numbers);
  cudaDeviceSynchronize();
  std::puts(numbers[31] == 62 ? "right" : "wrong");
}
