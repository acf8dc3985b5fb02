// Shared code of the programs. A comment before each kernel states what its report must say, and what it must
// not: not:
//
//   // says /PATTERN/: why
//   // never /PATTERN/: why
//
// PATTERN is a regular expression for what the report says about the kernel (../verdicts.py).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                            \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                             \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (0)

/// Returns device memory for `count` elements, which are 0.
template <class T> T* zeros(std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

/// Returns device memory with a copy of what `fill(index)` returns.
template <class T, class Fill> T* filled(std::size_t count, Fill fill) {
  T* host = static_cast<T*>(std::malloc(count * sizeof(T)));
  for (std::size_t i = 0; i < count; ++i)
    host[i] = fill(i);
  T* memory = zeros<T>(count);
  CHECK(cudaMemcpy(memory, host, count * sizeof(T), cudaMemcpyHostToDevice));
  std::free(host);
  return memory;
}

/// Returns a number that is scattered over [0, below).
inline unsigned scattered(std::size_t index, unsigned below) {
  unsigned x = unsigned(index) * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return x % below;
}

#define DONE() CHECK(cudaDeviceSynchronize())
