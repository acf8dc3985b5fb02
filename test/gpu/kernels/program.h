// The common code of the reference kernels' programs: command line, device memory, times and verdicts.
//
// Each takes `SIZE [REPEATS]`, makes its input from a fixed seed, checks its result against the host's and
// prints one line per kernel, "KERNEL PASS" or "KERNEL FAIL". With REPEATS it launches each kernel that often
// again once its result is known, and prints per launch "time KERNEL HOST GPU": microseconds from before the
// launch to its end as the host sees it, and between events around it.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <vector>

namespace reference {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Device memory, released with the object.
template <class T> class Array {
public:
  explicit Array(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    check(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  T* data() const { return data_; }
  void clear() { check(cudaMemset(data_, 0, count_ * sizeof(T)), "cudaMemset"); }
  std::vector<T> values() const {
    std::vector<T> copy(count_);
    check(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy to the host");
    return copy;
  }

private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Uses the generator's own numbers, since distributions differ between standard libraries.
class Random {
public:
  explicit Random(unsigned seed) : generator_(seed) {}
  unsigned below(unsigned end) { return static_cast<unsigned>(generator_() % end); }
  float fraction() { return static_cast<float>(generator_() >> 8) / (1 << 24); } // 24 bits, in [0, 1)
  std::vector<float> fractions(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values)
      value = fraction();
    return values;
  }

private:
  std::mt19937 generator_;
};

inline unsigned blocks_for(unsigned threads, unsigned per_block) {
  return (threads + per_block - 1) / per_block;
}

class Program {
public:
  /// Reads the size, which is `least` times a power of two, or any multiple of `least` if `any_multiple`; at
  /// most `most`.
  Program(int argc, char** argv, unsigned least, unsigned most, bool any_multiple = false) {
    const long size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
    const long repeats = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
    bool fits = size >= static_cast<long>(least) && size <= static_cast<long>(most) && size % least == 0;
    if (fits && !any_multiple)
      fits = (size / least & (size / least - 1)) == 0;
    if (argc < 2 || argc > 3 || !fits || repeats < 0 || repeats > 10000) {
      std::fprintf(stderr, "usage: %s SIZE [REPEATS], SIZE from %u to %u, %s %u; REPEATS to 10000\n", argv[0],
                   least, most, any_multiple ? "a multiple of" : "a power of two times", least);
      std::exit(2);
    }
    size_ = static_cast<unsigned>(size);
    repeats_ = static_cast<unsigned>(repeats);
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }

  unsigned size() const { return size_; }

  /// Launches once and waits for the end.
  template <class Launch> void run(const char* kernel, Launch launch) {
    launch();
    check(cudaGetLastError(), kernel);
    check(cudaDeviceSynchronize(), kernel);
  }

  /// Measures a launch, then REPEATS more. `launch` must produce the same result every time.
  template <class Launch> void measure(const char* kernel, Launch launch) {
    for (unsigned repeat = 0; repeat <= repeats_; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      check(cudaEventRecord(begin_), kernel);
      launch();
      check(cudaGetLastError(), kernel);
      check(cudaEventRecord(end_), kernel);
      check(cudaDeviceSynchronize(), kernel);
      const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - start;
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), kernel);
      if (repeats_ > 0)
        std::printf("time %s %.1f %.2f\n", kernel, host.count(), milliseconds * 1000);
    }
  }

  void judge(const char* kernel, bool right) {
    std::printf("%s %s\n", kernel, right ? "PASS" : "FAIL");
    all_right_ &= right;
  }

  int exit_code() const { return all_right_ ? 0 : 1; }

private:
  unsigned size_ = 0, repeats_ = 0;
  bool all_right_ = true;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

} // namespace reference
