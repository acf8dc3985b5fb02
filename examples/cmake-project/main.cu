#include "kernels.h"

#include <cstdio>

int main() {
  constexpr int count = 1 << 16;
  float *x = nullptr, *y = nullptr, *result = nullptr;
  if (cudaMallocManaged(&x, count * sizeof(float)) != cudaSuccess) {
    std::puts("no GPU here");
    return 0;
  }
  cudaMallocManaged(&y, count * sizeof(float));
  cudaMallocManaged(&result, sizeof(float));
  for (int i = 0; i < count; ++i) {
    x[i] = 1;
    y[i] = 2;
  }
  *result = 0;
  if (saxpy(3, x, y, count) != 0 || sum(y, result, count) != 0) {
    std::puts("a kernel failed");
    return 1;
  }
  std::printf("%g\n", *result);
  return *result == 5.f * count ? 0 : 1;
}
