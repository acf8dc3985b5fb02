// What the measured kernels' programs share: memory, and the end of the program.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

/// Returns device memory that is not initialised: the addresses of most kernels do not depend on its content.
template <class T> T* allocate(std::size_t count) {
  T* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(T)) != cudaSuccess) {
    std::fprintf(stderr, "no memory for %zu bytes\n", count * sizeof(T));
    std::exit(1);
  }
  return memory;
}

/// Returns device memory with a copy of the numbers.
template <class T> T* copy_of(const std::vector<T>& numbers) {
  T* memory = allocate<T>(numbers.size());
  cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

/// Returns the program's argument at an index from 1, a whole number, or a number where it is not given.
inline std::size_t argument(int count, char** values, int index, std::size_t otherwise) {
  return index < count ? std::strtoul(values[index], nullptr, 10) : otherwise;
}

/// Returns what instructions on shared memory take as an address there.
__device__ inline unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Ends the program: returns its exit code, after the kernels have ended.
inline int finish() {
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
