// A kernel of many blocks that is launched often, and a program that says so at its end.
#include <cstdio>
#include <vector>

__global__ void scale(float* values, unsigned count, float by) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] *= by;
}

__global__ void add(const float* from, float* to, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    to[i] += from[i];
}

int main() {
  const unsigned count = 1 << 22;
  float *a = nullptr, *b = nullptr;
  cudaMalloc(&a, count * sizeof(float));
  cudaMalloc(&b, count * sizeof(float));
  cudaMemset(a, 0, count * sizeof(float));
  cudaMemset(b, 0, count * sizeof(float));
  for (int step = 0; step < 20; ++step) {
    scale<<<count / 256, 256>>>(a, count, 0.5f);
    add<<<count / 256, 256>>>(a, b, count);
    if (cudaDeviceSynchronize() != cudaSuccess)
      return 1;
    std::printf("step %d\n", step);
  }
  std::puts("the end");
}
