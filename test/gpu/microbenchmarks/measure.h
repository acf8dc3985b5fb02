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

/// Rows leave at once, so that a program that is ended early has written those it has measured.
inline void row(const std::string& experiment, double x, double value) {
  std::printf("%s,%g,%.6g\n", experiment.c_str(), x, value);
  std::fflush(stdout);
}

/// Device memory for the life of the program, all zero.
template <class T> T* zeros(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "memory");
  check(cudaMemset(memory, 0, count * sizeof(T)), "memory");
  return memory;
}

/// Device memory for the life of the program; null if there is not enough.
template <class T> T* memory_if_there(std::size_t count) {
  T* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(T)) == cudaSuccess)
    return memory;
  cudaGetLastError(); // what follows shall not fail for it
  return nullptr;
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

/// The GPU's timer, which all SMs share.
__device__ inline long long timer_ns() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
  return time;
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

/// Occupies the GPU, so that the host has queued all that is to be timed when the GPU comes to it: what lies
/// between two events is then the GPU's work without the host's. (A template, as others are needed by some of
/// the programs only.)
template <class Cycles> __global__ void occupy(Cycles cycles) {
  const long long begin = now();
  while (now() < begin + cycles) {
  }
}

inline void occupy_gpu(int microseconds = 30) {
  occupy<long long><<<1, 1>>>(2000LL * microseconds);
}

template <class Word> __global__ void read_once(const Word* memory, std::size_t count, unsigned* out) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const Word word = memory[i];
    sum += word.x ^ word.y ^ word.z ^ word.w;
  }
  if (sum == 1)
    out[0] = sum;
}

/// Evicts all that the L2 holds, which takes long enough to queue a few launches behind it.
inline void evict_l2() {
  constexpr std::size_t count = std::size_t{1} << 24; // 256 MiB
  static const uint4* other = zeros<uint4>(count);
  static unsigned* out = zeros<unsigned>(1);
  read_once<<<8 * sms(), 256>>>(other, count, out);
}

/// A hash of which all bits look random; each number has one of its own.
__host__ __device__ inline unsigned mix(unsigned number) {
  number = (number ^ number >> 16) * 0x7feb352dU;
  number = (number ^ number >> 15) * 0x846ca68bU;
  return number ^ number >> 16;
}

/// Numbers that nothing can compress.
template <class Word> __global__ void fill_with_noise(Word* memory, std::size_t count) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const unsigned number = mix(static_cast<unsigned>(i));
    memory[i] = {number, number * 3, ~number, number * 5};
  }
}

/// The nanoseconds by events that each of `count` launches takes, queued one behind the other and behind what
/// `prepare` launches: the fewest of three runs.
template <class Prepare, class Launch>
std::vector<double> nanoseconds_of_each(std::size_t count, Prepare prepare, Launch launch) {
  static std::vector<cudaEvent_t> events;
  while (events.size() <= count)
    check(cudaEventCreate(&events.emplace_back()), "event");
  std::vector<double> fewest(count, 1e30);
  for (int repeat = 0; repeat < 3; ++repeat) {
    prepare();
    check(cudaEventRecord(events[0]), "event");
    for (std::size_t i = 0; i < count; ++i) {
      launch(i);
      check(cudaGetLastError(), "launch");
      check(cudaEventRecord(events[i + 1]), "event");
    }
    check(cudaEventSynchronize(events[count]), "kernel");
    for (std::size_t i = 0; i < count; ++i) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, events[i], events[i + 1]), "time");
      fewest[i] = std::min(fewest[i], milliseconds * 1e6);
    }
  }
  return fewest;
}

/// The shortest of `repeats` launches after one that warms up, in nanoseconds by events; fewer once they have
/// taken 60 ms together. Behind what `prepare` launches before each, outside of the time.
template <class Prepare, class Launch> double nanoseconds_after(Prepare prepare, Launch launch) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
  }
  double fewest = 1e30, sum = 0;
  for (int repeat = 0; repeat <= repeats && (repeat < 2 || sum < 60e6); ++repeat) {
    prepare();
    check(cudaEventRecord(begin), "event");
    launch();
    check(cudaGetLastError(), "launch");
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
    sum += milliseconds * 1e6;
    if (repeat > 0)
      fewest = std::min(fewest, milliseconds * 1e6);
  }
  return fewest;
}

/// The same on a GPU that has nothing to do before: with what the host takes for a launch.
template <class Launch> double nanoseconds_of(Launch launch) {
  return nanoseconds_after([] {}, launch);
}

/// The same where the host has queued the launch before the GPU comes to it.
template <class Launch> double nanoseconds_of_queued(Launch launch) {
  return nanoseconds_after([] { occupy_gpu(); }, launch);
}

} // namespace measure
