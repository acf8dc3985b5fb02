// Two loads one after the other, and loads after short histories: they show what a miss fetches, and the
// effects of a store or an eviction.
#include "measure.h"

#include <algorithm>

namespace measure {
namespace {

constexpr unsigned overflow_threads = 1024;

/// Each result is one load's cycles. `a` has not been touched before.
template <class Operator>
__global__ void touch(const char* a, unsigned offset, bool in_l2, long long* results) {
  __shared__ volatile unsigned long long used;
  unsigned long long zero = 0; // all of memory is 0
  if (in_l2)
    for (unsigned i = 0; i < 4096; i += 32)
      zero |= Cg::load(a + i);
  results[0] = timed_load<Operator>(a, zero, &used);
  zero = used;
  for (unsigned i = 0; i < 4000; i += 100)
    __nanosleep(100); // prefetches of the first load arrive
  results[1] = timed_load<Operator>(a + offset, zero, &used);
}

enum History {
  l1_hit,
  l2_hit,
  memory,
  load_after_store,
  l2_load_after_store,
  load_store_load,
  l2_overflow,
  l2_after_l1
};

/// Stores all of a sector's bytes: after a partial store an L2 may have to read the rest from memory.
__device__ void store(char* sector, unsigned long long value) {
  asm volatile("st.global.v2.u64 [%0], {%1, %1};" : : "l"(sector), "l"(value) : "memory");
  asm volatile("st.global.v2.u64 [%0 + 16], {%1, %1};" : : "l"(sector), "l"(value) : "memory");
  __threadfence();
}

__global__ void load_after(History history, char* a, const char* sweep, unsigned long long sweep_bytes,
                           long long* results) {
  __shared__ volatile unsigned long long used;
  if (threadIdx.x == 0) {
    switch (history) {
    case memory: break;
    case load_after_store:
    case l2_load_after_store: store(a, 7); break;
    case l2_hit: used = Cg::load(a); break;
    case load_store_load:
      used = Ca::load(a);
      store(a, 7);
      break;
    default: used = Ca::load(a);
    }
    __nanosleep(2000);
  }
  __syncthreads();
  if (history == l2_overflow) // these loads leave the L1 alone
    for (unsigned long long i = threadIdx.x * 32ull; i < sweep_bytes; i += overflow_threads * 32ull)
      Cg::load(sweep + i);
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  const bool bypass =
      history == l2_hit || history == memory || history == l2_load_after_store || history == l2_after_l1;
  results[0] = bypass ? timed_load<Cg>(a, 0, &used) : timed_load<Ca>(a, 0, &used);
  results[1] = used == 7;
}

/// Yields unused places, 64 KiB apart.
class Places {
public:
  explicit Places(const Device& device) : device_(device) {}
  char* next() {
    constexpr std::size_t apart = 64 << 10;
    char* const place = device_.memory + at_;
    at_ = (at_ + apart) % (device_.bytes - apart);
    return place;
  }

private:
  const Device& device_;
  std::size_t at_ = 0;
};

} // namespace

void measure_touches(const Device& device, const std::string& folder, double seconds) {
  constexpr unsigned tries = 5, farthest = 1024, step = 8;
  const Deadline deadline(seconds);
  check(cudaFuncSetAttribute(touch<Ca>, cudaFuncAttributePreferredSharedMemoryCarveout, 0), "carve-out");
  check(cudaMemset(device.memory, 0, device.bytes), "memory");
  Places places(device);
  Csv in_l1(folder, "touch_l1", "offset_bytes,cycles"), in_l2(folder, "touch_l2", "offset_bytes,cycles");
  for (unsigned attempt = 0; attempt < tries; ++attempt)
    for (unsigned offset = 0; offset < farthest && !deadline.passed(); offset += step) {
      flush(device);
      touch<Ca><<<1, 1>>>(places.next(), offset, true, device.results);
      in_l1.row("%u,%lld\n", offset, results_of(device, 2)[1]);
      flush(device);
      touch<Cg><<<1, 1>>>(places.next(), offset, false, device.results);
      in_l2.row("%u,%lld\n", offset, results_of(device, 2)[1]);
    }
}

void measure_policies(const Device& device, const std::string& folder) {
  constexpr unsigned tries = 7;
  check(cudaFuncSetAttribute(load_after, cudaFuncAttributePreferredSharedMemoryCarveout, 0), "carve-out");
  check(cudaMemset(device.memory, 0, device.bytes), "memory");
  Places places(device);
  Csv csv(folder, "policies", "history,cycles");
  const auto row = [&](const char* name, History history, std::size_t which) {
    std::vector<long long> seen;
    for (unsigned attempt = 0; attempt < tries; ++attempt) {
      char* const place = places.next();
      flush(device);
      load_after<<<1, overflow_threads>>>(history, place, device.sweep, device.sweep_bytes, device.results);
      check(cudaDeviceSynchronize(), name);
      seen.push_back(results_of(device, 2)[which]);
    }
    std::nth_element(seen.begin(), seen.begin() + tries / 2, seen.end());
    csv.row("%s,%lld\n", name, seen[tries / 2]);
  };
  row("l1_hit", l1_hit, 0);
  row("l2_hit", l2_hit, 0);
  row("memory", memory, 0);
  row("load_after_store", load_after_store, 0);
  row("l2_load_after_store", l2_load_after_store, 0);
  row("load_store_load", load_store_load, 0);
  row("new_value_seen", load_store_load, 1);
  row("l1_load_after_l2_overflow", l2_overflow, 0);
  row("l2_load_after_l1_load", l2_after_l1, 0);
}

} // namespace measure
