// The common parts of the measuring programs. Every curve is a CSV file in the folder that main() is given;
// calibration/curves.h describes their contents. Each part stops early when its time is up: a curve then has
// fewer points, not wrong ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <string>
#include <vector>

namespace measure {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// A CSV file, written as its heading, then a row at a time.
class Csv {
public:
  Csv(const std::string& folder, const char* name, const char* heading)
      : file_(std::fopen((folder + "/" + name + ".csv").c_str(), "w")) {
    if (!file_) {
      std::fprintf(stderr, "%s/%s.csv: cannot be written\n", folder.c_str(), name);
      std::exit(1);
    }
    std::fprintf(file_, "%s\n", heading);
  }
  Csv(const Csv&) = delete;
  ~Csv() {
    if (std::fclose(file_) != 0) {
      std::fprintf(stderr, "a curve cannot be written: is the disk full?\n");
      std::exit(1);
    }
  }
  template <class... Values> void row(const char* format, Values... values) {
    std::fprintf(file_, format, values...);
  }

private:
  std::FILE* file_;
};

class Deadline {
public:
  explicit Deadline(double seconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds)) {}
  bool passed() const { return std::chrono::steady_clock::now() > end_; }

private:
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
};

/// The device and memory that every part works with.
struct Device {
  cudaDeviceProp properties{};
  int bus_bits = 0, driver = 0, runtime = 0;
  char* memory = nullptr; ///< used by the parts, one after the other
  std::size_t bytes = 0;
  char* sweep = nullptr; ///< three times the L2: reading it leaves nothing else in the L2
  std::size_t sweep_bytes = 0;
  long long* results = nullptr; ///< the kernels' results, on the device
  static constexpr std::size_t max_results = 4096;
};

/// Evicts all of `device.memory` from the caches.
void flush(const Device& device);

std::vector<long long> results_of(const Device& device, std::size_t count);

inline constexpr double chase_share = 0.6; ///< share of the time that main() distributes

// The parts of the measurement.
double measure_clock_mhz(const Device& device);
void measure_chase(const Device& device, const std::string& folder, double seconds);
void measure_strides(const Device& device, const std::string& folder, double seconds);
void measure_touches(const Device& device, const std::string& folder, double seconds);
void measure_policies(const Device& device, const std::string& folder);
void measure_distance(const Device& device, const std::string& folder, double seconds);
void measure_bits(const Device& device, const std::string& folder, double seconds);
void measure_batches(const Device& device, const std::string& folder, double seconds);
void measure_bandwidth(const Device& device, const std::string& folder);
void measure_on_chip(const Device& device, const std::string& folder);

#if defined(__CUDACC__)
/// Loads that the compiler leaves where they stand. `ca` may hit in the L1, `cg` bypasses it.
struct Ca {
  static __device__ unsigned long long load(const void* address) {
    unsigned long long value;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
  }
};
struct Cg {
  static __device__ unsigned long long load(const void* address) {
    unsigned long long value;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
  }
};

/// Returns the cycles of one load from its issue to its value's use. `after` is 0 and orders the load behind
/// the one that yielded it. `used` lies in shared memory: a warp issues in order, so that storing the value
/// there keeps the clock from being read before the value arrived (some cycles too many, the same
/// everywhere).
template <class Operator>
__device__ long long timed_load(const char* address, unsigned long long after,
                                volatile unsigned long long* used) {
  const char* const place = address + after;
  const long long start = clock64();
  *used = Operator::load(place);
  return clock64() - start;
}
#endif

} // namespace measure
