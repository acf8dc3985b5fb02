// Host threads of OpenMP launch kernels, each in a stream of its own.
#include <cstdio>
#include <cuda_runtime.h>
#include <omp.h>

__global__ void count(int* counter) {
  atomicAdd(counter, 1);
}

int main() {
  int *counter = nullptr, on_host = 0, launches = 0;
  cudaMalloc(&counter, sizeof *counter);
  cudaMemset(counter, 0, sizeof *counter);
#pragma omp parallel for num_threads(4) reduction(+ : launches)
  for (int i = 0; i < 8; ++i) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    count<<<1, 32, 0, stream>>>(counter);
    launches += cudaStreamSynchronize(stream) == cudaSuccess && omp_get_num_threads() == 4;
    cudaStreamDestroy(stream);
  }
  cudaMemcpy(&on_host, counter, sizeof on_host, cudaMemcpyDeviceToHost);
  std::printf("%d counted, from %d launches\n", on_host, launches);
}
