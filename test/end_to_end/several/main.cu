// Static kernels and variables of one name in several files, a managed variable, and code that is not CUDA.
#include <cstdio>

static __device__ int bias = 5;
__managed__ int total;

static __global__ void add(int* sum) {
  *sum += bias;
  total += 3;
}

void add_elsewhere(int* sum); // in other.cu
extern "C" int twice(int x);  // in host.c

int main() {
  int *sum, result = 0;
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  total = 4;
  add<<<1, 1>>>(sum);
  add_elsewhere(sum);
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", twice(result), total); // 2 * (5 + 2 * 100), 4 + 3
}
