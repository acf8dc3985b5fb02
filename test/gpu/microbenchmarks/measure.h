// The microbenchmarks share this: rows "experiment,x,value" on standard output, memory, and times of one SM
// or of the whole GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <string>
#include <vector>

namespace measure {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

inline void row(const std::string& experiment, double x, double value) {
  std::printf("%s,%g,%.6g\n", experiment.c_str(), x, value);
}

/// Device memory for the life of the program, all zero.
template <class T> T* zeros(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "memory");
  check(cudaMemset(memory, 0, count * sizeof(T)), "memory");
  return memory;
}

template <class T> T* copy_of(const std::vector<T>& values) {
  T* memory = zeros<T>(values.size());
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return memory;
}

inline int sms() {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), "device");
  return count;
}

/// The cycles of each warp of a block: clock64 is one counter per SM, so that those of one block may be
/// compared.
struct Span {
  long long begin, end;
};

__device__ inline long long now() {
  long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ inline void note(Span* spans, long long begin, long long end) {
  if (threadIdx.x % 32 == 0)
    spans[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = {begin, end};
}

constexpr int max_warps = 1 << 16, repeats = 5;

/// Launches `repeats` times a kernel of `blocks` blocks of `warps` warps, which notes their spans. Returns
/// the fewest cycles from the first warp's begin to the last one's end, in the mean over the blocks.
template <class Launch> double cycles_of_blocks(int blocks, int warps, Launch launch) {
  static Span* spans = zeros<Span>(max_warps);
  double fewest = 1e30;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    launch(spans);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    std::vector<Span> found(static_cast<std::size_t>(blocks * warps));
    check(cudaMemcpy(found.data(), spans, found.size() * sizeof(Span), cudaMemcpyDeviceToHost), "spans");
    double sum = 0;
    for (auto first = found.begin(); first != found.end(); first += warps) {
      const auto begins = [](const Span& a, const Span& b) { return a.begin < b.begin; };
      const auto ends = [](const Span& a, const Span& b) { return a.end < b.end; };
      sum += static_cast<double>(std::max_element(first, first + warps, ends)->end -
                                 std::min_element(first, first + warps, begins)->begin);
    }
    fewest = std::min(fewest, sum / blocks);
  }
  return fewest;
}

template <class Launch> double cycles_of_block(int warps, Launch launch) {
  return cycles_of_blocks(1, warps, launch);
}

/// The shortest of `repeats` launches after one that warms up, in nanoseconds by events.
template <class Launch> double nanoseconds_of(Launch launch) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
  }
  double fewest = 1e30;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    check(cudaEventRecord(begin), "event");
    launch();
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
    if (repeat > 0)
      fewest = std::min(fewest, milliseconds * 1e6);
  }
  return fewest;
}

} // namespace measure
