// Main memory: rows by the one-bit algorithm, batches of requests, bandwidth.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

/// results: the second load's cycles.
__global__ void pair(const char* a, const char* b, long long* results) {
  __shared__ volatile unsigned long long used;
  const unsigned long long zero = Cg::load(a);
  results[0] = timed_load<Cg>(b, zero, &used);
}

/// The first `requests` lanes of one warp per block load a line each, all at once; results: per block, the
/// cycles until all have arrived.
__global__ void batch(const char* memory, const unsigned* lines, unsigned requests, long long* results) {
  __shared__ volatile unsigned long long used[32];
  const char* const place = memory + 128ull * lines[blockIdx.x * 32 + threadIdx.x];
  __syncwarp();
  if (threadIdx.x >= requests)
    return;
  const long long start = clock64();
  used[threadIdx.x] = Cg::load(place);
  const long long end = clock64();
  if (threadIdx.x == 0)
    results[blockIdx.x] = end - start;
}

__global__ void stream(const ulonglong2* memory, unsigned long long count, unsigned long long* sums) {
  unsigned long long sum = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const ulonglong2 value = memory[i];
    sum += value.x + value.y;
  }
  if (sum != 0)
    *sums = sum; // never: all of memory is 0
}

} // namespace

void measure_bits(const Device& device, const std::string& folder, double seconds) {
  constexpr unsigned first_bit = 7, tries = 24;
  const Deadline deadline(seconds);
  check(cudaMemset(device.memory, 0, device.bytes), "memory");
  std::mt19937_64 random(2);
  unsigned bits = first_bit;
  while ((std::size_t{2} << bits) <= device.bytes)
    ++bits;
  Csv csv(folder, "bits", "bit,cycles");
  for (unsigned attempt = 0; attempt < tries; ++attempt)
    for (unsigned bit = first_bit; bit < bits && !deadline.passed(); ++bit) {
      const std::size_t base = random() % (std::size_t{1} << bits) / 128 * 128;
      flush(device);
      pair<<<1, 1>>>(device.memory + base, device.memory + (base ^ std::size_t{1} << bit), device.results);
      csv.row("%u,%lld\n", bit, results_of(device, 1)[0]);
    }
}

void measure_batches(const Device& device, const std::string& folder, double seconds) {
  constexpr unsigned tries = 12;
  const Deadline deadline(seconds);
  const auto all = static_cast<unsigned>(device.properties.multiProcessorCount);
  std::mt19937 random(3);
  unsigned* lines = nullptr;
  check(cudaMalloc(&lines, std::size_t{32} * all * sizeof *lines), "batches");
  std::vector<unsigned> chosen(std::size_t{32} * all);
  Csv csv(folder, "batches", "sms,requests,cycles");
  for (unsigned sms = 1; sms <= all; sms = sms == all ? all + 1 : std::min(4 * sms, all))
    for (unsigned requests = 1; requests <= 32 && !deadline.passed(); requests *= 2)
      for (unsigned attempt = 0; attempt < tries; ++attempt) {
        for (unsigned& line : chosen)
          line = static_cast<unsigned>(random() % (device.bytes / 128));
        check(cudaMemcpy(lines, chosen.data(), chosen.size() * sizeof *lines, cudaMemcpyHostToDevice),
              "batches");
        flush(device);
        batch<<<sms, 32>>>(device.memory, lines, requests, device.results);
        check(cudaDeviceSynchronize(), "batches");
        for (const long long cycles : results_of(device, sms))
          csv.row("%u,%u,%lld\n", sms, requests, cycles);
      }
  cudaFree(lines);
}

void measure_bandwidth(const Device& device, const std::string& folder) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "bandwidth");
  check(cudaEventCreate(&end), "bandwidth");
  check(cudaMemset(device.memory, 0, device.bytes), "memory");
  float best = 0;
  for (unsigned attempt = 0; attempt < 6; ++attempt) {
    check(cudaEventRecord(begin), "bandwidth");
    stream<<<16 * device.properties.multiProcessorCount, 512>>>(
        reinterpret_cast<const ulonglong2*>(device.memory), device.bytes / sizeof(ulonglong2),
        reinterpret_cast<unsigned long long*>(device.results));
    check(cudaEventRecord(end), "bandwidth");
    check(cudaDeviceSynchronize(), "bandwidth");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "bandwidth");
    best = std::max(best, static_cast<float>(device.bytes) / milliseconds / 1e6f);
  }
  Csv csv(folder, "bandwidth", "what,gb_per_s");
  csv.row("read,%.1f\n", best);
}

} // namespace measure
