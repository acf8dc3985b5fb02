// Each kernel checks one construct on its own; the program says which are right.
#pragma once
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

/// Runs the kernel with `count` zeroed values of T to write to, and holds each against expected(i).
template <class T, class Kernel, class Expected>
void check(const char* name, Kernel kernel, dim3 blocks, dim3 threads, int count, Expected expected) {
  T* out;
  cudaMallocManaged(&out, count * sizeof(T));
  for (int i = 0; i < count; ++i)
    out[i] = T{};
  kernel<<<blocks, threads>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::printf("%s: %s\n", name, cudaGetErrorName(error));
    return;
  }
  for (int i = 0; i < count; ++i)
    if (!(out[i] == static_cast<T>(expected(i)))) {
      std::printf("%s: wrong at %d: %g instead of %g\n", name, i, static_cast<double>(out[i]),
                  static_cast<double>(static_cast<T>(expected(i))));
      cudaFree(out);
      return;
    }
  std::printf("%s: right\n", name);
  cudaFree(out);
}
