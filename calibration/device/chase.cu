// Pointer chases: one thread follows pointers in random cyclic order.
#include "measure.h"

#include <algorithm>
#include <numeric>

namespace measure {
namespace {

__global__ void link(char* memory, const unsigned* order, unsigned count, unsigned stride) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned long long next = order[i + 1 == count ? 0 : i + 1];
    *reinterpret_cast<char**>(memory + static_cast<unsigned long long>(order[i]) * stride) =
        memory + next * stride;
  }
}

/// results: SM cycles and nanoseconds of all the timed steps. Uses no shared memory, whose part of an SM
/// would be missing from the L1. The clock may be read one load too early, which is negligible among
/// thousands.
__global__ void chase(const char* start, unsigned warming, unsigned steps, long long* results) {
  const char* place = start;
  for (unsigned i = 0; i < warming; ++i)
    place = reinterpret_cast<const char*>(Ca::load(place));
  unsigned long long begin_ns, end_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  const long long begin = clock64();
  for (unsigned i = 0; i < steps; ++i)
    place = reinterpret_cast<const char*>(Ca::load(place));
  const long long end = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_ns));
  results[0] = end - begin;
  results[1] = static_cast<long long>(end_ns - begin_ns);
  results[2] = reinterpret_cast<long long>(place);
}

/// Reads all the pointers once, by one block: enough if the L1 is far too small to keep any.
__global__ void warm(const char* memory, unsigned count, unsigned stride) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    Cg::load(memory + static_cast<unsigned long long>(i) * stride);
}

class Chase {
public:
  explicit Chase(const Device& device) : device_(device) {
    // The whole L1 must be cache.
    check(cudaFuncSetAttribute(chase, cudaFuncAttributePreferredSharedMemoryCarveout, 0), "carve-out");
  }
  ~Chase() { cudaFree(order_); }

  /// Returns the mean cycles of a load once warm, `count` pointers `stride` bytes apart. Two rounds of
  /// warming come first, but beyond `brief` pointers, where hardly anything hits, a part of a round is timed.
  double cycles(unsigned count, unsigned stride, unsigned brief) {
    std::vector<unsigned> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random_);
    if (count > room_) {
      cudaFree(order_);
      room_ = count;
      check(cudaMalloc(&order_, room_ * sizeof *order_), "order");
    }
    check(cudaMemcpy(order_, order.data(), count * sizeof *order_, cudaMemcpyHostToDevice), "order");
    link<<<256, 256>>>(device_.memory, order_, count, stride);
    const bool is_brief = count > brief;
    if (is_brief)
      warm<<<1, 1024>>>(device_.memory, count, stride);
    const unsigned warming = is_brief ? 1000 : 2 * count;
    const unsigned min_steps = 4096; // fewer loads are not significant
    const unsigned steps = is_brief ? brief / 4 : std::max(count, min_steps / count * count);
    chase<<<1, 1>>>(device_.memory + std::size_t{order[0]} * stride, warming, steps, device_.results);
    check(cudaDeviceSynchronize(), "chase");
    const auto results = results_of(device_, 2);
    mhz_ = results[1] > 0 ? 1000.0 * static_cast<double>(results[0]) / static_cast<double>(results[1]) : 0;
    return static_cast<double>(results[0]) / steps;
  }
  double clock_mhz() const { return mhz_; }

private:
  const Device& device_;
  std::mt19937 random_{1};
  unsigned* order_ = nullptr;
  std::size_t room_ = 0;
  double mhz_ = 0;
};

} // namespace

double measure_clock_mhz(const Device& device) {
  Chase chase(device);
  chase.cycles(1 << 17, 128, 1u << 31); // long enough for the clock to rise
  chase.cycles(1 << 17, 128, 1u << 31);
  return chase.clock_mhz();
}

void measure_chase(const Device& device, const std::string& folder, double seconds) {
  constexpr double line = 128, finest = 1.025;
  const Deadline deadline(seconds);
  Chase chase(device);
  Csv csv(folder, "chase", "kib,cycles");
  const double most = std::min(3.0 * device.properties.l2CacheSize, static_cast<double>(device.bytes));
  const auto brief = static_cast<unsigned>(1.6 * device.properties.l2CacheSize / line);
  // Sizes are coarse first and finer if time is left: a curve cut short has all of its range.
  std::vector<double> sizes;
  for (double bytes = 2048; bytes <= most; bytes *= finest)
    sizes.push_back(bytes);
  std::vector<std::pair<double, double>> curve;
  std::vector<bool> done(sizes.size());
  for (const std::size_t step : {8, 4, 2, 1})
    for (std::size_t i = 0; i < sizes.size() && !deadline.passed(); i += step) {
      if (done[i])
        continue;
      done[i] = true;
      const auto count = static_cast<unsigned>(sizes[i] / line);
      curve.emplace_back(count * line / 1024, chase.cycles(count, 128, brief));
    }
  std::sort(curve.begin(), curve.end());
  for (const auto& [kib, cycles] : curve)
    csv.row("%.3f,%.2f\n", kib, cycles);
}

void measure_strides(const Device& device, const std::string& folder, double seconds) {
  const Deadline deadline(seconds);
  Chase chase(device);
  Csv csv(folder, "strides", "stride_bytes,pointers,cycles");
  // The strides are a size in bytes and odd multiples of it, each for a line of 32, 64 or 128 bytes.
  for (const unsigned stride : {128u, 384u, 640u, 896u, 64u, 192u, 320u, 448u, 32u, 96u, 160u, 224u}) {
    double before = 0;
    for (double count = 256; count <= 16384; count *= 1.05) {
      if (deadline.passed())
        return;
      const double cycles = chase.cycles(static_cast<unsigned>(count), stride, 1u << 31);
      csv.row("%u,%u,%.2f\n", stride, static_cast<unsigned>(count), cycles);
      if (before == 0)
        before = cycles;
      if (cycles > 4 * before)
        break; // far beyond the capacity
    }
  }
}

} // namespace measure
