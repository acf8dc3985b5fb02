// Measures the pairs of addresses that `warplens dram-map --pairs` prints: for each the latency of an access to
// the second address right behind one to the first, past the caches and with both pages in the TLB.
//
//   warplens dram-map --pairs > pairs.csv
//   nvcc -O2 measure_pairs.cu -o measure_pairs && ./measure_pairs pairs.csv > measured.csv
//   warplens dram-map --latencies measured.csv
//
// Addresses are offsets in one allocation, whose pages of 2 MiB lie in memory as the driver puts them: what is
// found of bits above 20 holds for this run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

constexpr unsigned REPETITIONS = 9; // of which the median counts
constexpr unsigned long long PAGE = 2ull << 20;

struct Pair {
  unsigned long long first, second;
};

#define CHECKED(call)                                                                                        \
  if (const cudaError_t error = (call); error != cudaSuccess) {                                              \
    std::fprintf(stderr, "measure_pairs: %s\n", cudaGetErrorString(error));                                  \
    std::exit(1);                                                                                            \
  }

__device__ unsigned loaded(const char* address) {
  return *reinterpret_cast<const volatile unsigned*>(address);
}

/// Fills the L2 with other data.
__global__ void evict(const unsigned* other, unsigned long long words, unsigned* out) {
  unsigned sum = 0;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    sum += other[i];
  if (sum == 1)
    *out = sum;
}

/// One thread goes through the pairs. The memory holds zeros, so that each load needs the one before.
/// Instructions issue in order: a clock behind the store of a loaded value is read when that has come.
__global__ void measure(const char* memory, const Pair* pairs, unsigned count, unsigned* cycles) {
  __shared__ volatile unsigned arrived;
  for (unsigned i = 0; i < count; ++i) {
    const Pair pair = pairs[i];
    // Another line of each page brings its translation into the TLB.
    unsigned zero = loaded(memory + (pair.first / PAGE * PAGE + (pair.first + PAGE / 2) % PAGE));
    zero += loaded(memory + (pair.second / PAGE * PAGE + (pair.second + PAGE / 2) % PAGE) + zero);
    zero += loaded(memory + pair.first + zero);
    arrived = zero;
    const long long begin = clock64();
    arrived = loaded(memory + pair.second + zero);
    cycles[i] = unsigned(clock64() - begin);
  }
}

int main(int argc, char** argv) {
  std::FILE* const file = argc == 2 ? std::fopen(argv[1], "r") : nullptr;
  if (file == nullptr) {
    std::fprintf(stderr, "measure_pairs: give it the file that `warplens dram-map --pairs` printed\n");
    return 1;
  }
  std::vector<Pair> pairs;
  unsigned long long bytes = PAGE;
  char line[128];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    Pair pair;
    if (std::sscanf(line, "%llx,%llx", &pair.first, &pair.second) != 2)
      continue; // the header
    pairs.push_back(pair);
    while (bytes <= std::max(pair.first, pair.second))
      bytes *= 2;
  }
  std::fclose(file);
  if (pairs.empty()) {
    std::fprintf(stderr, "measure_pairs: %s has no pairs\n", argv[1]);
    return 1;
  }
  const unsigned count = unsigned(pairs.size());

  int l2_bytes = 0, kilohertz = 0;
  CHECKED(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
  CHECKED(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  const unsigned long long words = 4ull * unsigned(l2_bytes) / sizeof(unsigned);
  char* memory;
  Pair* on_device;
  unsigned *cycles, *other;
  CHECKED(cudaMalloc(&memory, bytes));
  CHECKED(cudaMemset(memory, 0, bytes));
  CHECKED(cudaMalloc(&on_device, count * sizeof(Pair)));
  CHECKED(cudaMemcpy(on_device, pairs.data(), count * sizeof(Pair), cudaMemcpyHostToDevice));
  CHECKED(cudaMalloc(&cycles, count * sizeof(unsigned)));
  CHECKED(cudaMalloc(&other, words * sizeof(unsigned)));
  CHECKED(cudaMemset(other, 0, words * sizeof(unsigned)));

  std::vector<std::vector<unsigned>> measured(count);
  std::vector<unsigned> once(count);
  for (unsigned n = 0; n < REPETITIONS; ++n) {
    evict<<<256, 256>>>(other, words, cycles);
    measure<<<1, 1>>>(memory, on_device, count, cycles);
    CHECKED(cudaMemcpy(once.data(), cycles, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < count; ++i)
      measured[i].push_back(once[i]);
  }
  std::printf("first,second,nanoseconds\n");
  for (unsigned i = 0; i < count; ++i) {
    std::nth_element(measured[i].begin(), measured[i].begin() + REPETITIONS / 2, measured[i].end());
    std::printf("%#llx,%#llx,%.1f\n", pairs[i].first, pairs[i].second,
                std::max(1u, measured[i][REPETITIONS / 2]) * 1e6 / kilohertz);
  }
}
