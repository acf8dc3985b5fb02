// Measures what a launch costs beside its work, and a block that takes the place of another. Rows: empty,
// blocks, ns of a launch that does nothing by events; turnover:WARPS, the percentile, cycles from the end of
// a block to the begin of the next one on the same SM, where only one fits; shared_offsets, where the
// system's part of shared memory begins and ends that is in use, its size, the program's begin.
#include "measure.h"

using namespace measure;

namespace {

__global__ void nothing() {}

struct Stay {
  long long begin, end;
  unsigned sm, unused;
};

__global__ void stay(Stay* stays, int cycles) {
  extern __shared__ char all_of_it[];
  __shared__ long long begin;
  if (threadIdx.x == 0)
    begin = now();
  __syncthreads();
  while (now() < begin + cycles)
    all_of_it[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    stays[blockIdx.x] = {begin, now(), sm, 0};
  }
}

/// Where the system's part of shared memory begins, where what of it is in use ends, its size, and where the
/// program's part begins.
__global__ void find_shared(unsigned* offsets) {
  __shared__ unsigned own[32];
  own[threadIdx.x] = threadIdx.x;
  asm volatile("mov.b32 %0, %%reserved_smem_offset_begin;" : "=r"(offsets[0]));
  asm volatile("mov.b32 %0, %%reserved_smem_offset_end;" : "=r"(offsets[1]));
  asm volatile("mov.b32 %0, %%reserved_smem_offset_cap;" : "=r"(offsets[2]));
  offsets[3] = static_cast<unsigned>(__cvta_generic_to_shared(own)) + own[0];
}

} // namespace

int main() {
  std::puts("experiment,x,value");
  for (unsigned blocks : {1U, 132U, 1056U, 8448U, 67584U})
    row("empty", blocks, nanoseconds_of([&] { nothing<<<blocks, 256>>>(); }));
  row("two_empty", 1, nanoseconds_of([] {
        nothing<<<1, 32>>>();
        nothing<<<1, 32>>>();
      }));
  auto* offsets = zeros<unsigned>(4);
  find_shared<<<1, 1>>>(offsets);
  unsigned found_offsets[4];
  check(cudaMemcpy(found_offsets, offsets, sizeof found_offsets, cudaMemcpyDeviceToHost), "offsets");
  for (int i = 0; i < 4; ++i)
    row("shared_offsets", i, found_offsets[i]);
  constexpr int shared = 160 << 10;
  check(cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  const int blocks = 8 * sms();
  auto* stays = zeros<Stay>(static_cast<std::size_t>(blocks));
  for (int warps : {1, 4, 8, 16, 32}) {
    for (int repeat = 0; repeat < 2; ++repeat)
      stay<<<blocks, 32 * warps, shared>>>(stays, 20000);
    check(cudaDeviceSynchronize(), "kernel");
    std::vector<Stay> found(static_cast<std::size_t>(blocks));
    check(cudaMemcpy(found.data(), stays, found.size() * sizeof(Stay), cudaMemcpyDeviceToHost), "stays");
    std::sort(found.begin(), found.end(),
              [](const Stay& a, const Stay& b) { return a.sm != b.sm ? a.sm < b.sm : a.begin < b.begin; });
    std::vector<long long> gaps;
    for (std::size_t i = 1; i < found.size(); ++i)
      if (found[i].sm == found[i - 1].sm)
        gaps.push_back(found[i].begin - found[i - 1].end);
    std::sort(gaps.begin(), gaps.end());
    for (int percent : {10, 50, 90})
      row("turnover:" + std::to_string(warps), percent,
          static_cast<double>(gaps[gaps.size() * static_cast<std::size_t>(percent) / 100]));
  }
}
