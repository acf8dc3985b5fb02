// The programs here check with these: each prints the line of an expectation that does not hold.
#pragma once
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

static int wrong = 0;
#define EXPECT(condition)                                                                                    \
  do                                                                                                         \
    if (!(condition)) {                                                                                      \
      std::printf("line %d: %s\n", __LINE__, #condition);                                                    \
      wrong = 1;                                                                                             \
    }                                                                                                        \
  while (0)

/// Returns device memory with these values.
template <class T> T* device(const std::vector<T>& values) {
  T* data;
  cudaMalloc(&data, values.size() * sizeof(T));
  cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyDefault);
  return data;
}
template <class T> std::vector<T> host(const T* data, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDefault);
  return values;
}
