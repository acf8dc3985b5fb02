// One warp of a block copies an array to shared memory, a chunk at a time, by asynchronous copies that arrive at
// a barrier when they are there; another warp sums it up. The consumer checks the barrier in a loop: of checks
// alone, or of checks and work, of which it counts the rounds.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int lanes = 32, blocks = 16, chunks = 64;

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ bool is_over(const uint64_t* barrier, unsigned parity) {
  unsigned over;
  asm volatile("{.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;}"
               : "=r"(over)
               : "r"(address_of(barrier)), "r"(parity)
               : "memory");
  return over != 0;
}
__device__ void wait_for(const uint64_t* barrier, unsigned parity) {
  while (!is_over(barrier, parity))
    ; // nothing
}

template <int stages, bool works> __global__ void copied(const float4* in, float* sums, int* rounds) {
  __shared__ float4 places[stages][lanes];
  __shared__ uint64_t full[stages], empty[stages];
  const int lane = threadIdx.x % lanes;
  if (threadIdx.x == 0)
    for (int i = 0; i < stages; ++i)
      for (const uint64_t* barrier : {full + i, empty + i})
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address_of(barrier)) : "memory");
  __syncthreads();
  if (threadIdx.x < lanes) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int place = chunk % stages;
      if (chunk >= stages)
        wait_for(empty + place, (chunk / stages + 1) % 2);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(&places[place][lane])),
                   "l"(in + (blockIdx.x * chunks + chunk) * lanes + lane)
                   : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(full + place)) : "memory");
    }
    return;
  }
  float sum = 0;
  int count = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int place = chunk % stages;
    if constexpr (works) {
      while (!is_over(full + place, chunk / stages % 2))
        ++count;
    } else {
      wait_for(full + place, chunk / stages % 2);
    }
    const float4 four = places[place][lane];
    sum += four.x + four.y + four.z + four.w;
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(empty + place)) : "memory");
  }
  sums[blockIdx.x * lanes + lane] = sum;
  rounds[blockIdx.x * lanes + lane] = count;
}

int main() {
  constexpr int fours = blocks * chunks * lanes;
  float4* in;
  float* sums;
  int* rounds;
  cudaMallocManaged(&in, fours * sizeof *in);
  cudaMallocManaged(&sums, blocks * lanes * sizeof *sums);
  cudaMallocManaged(&rounds, blocks * lanes * sizeof *rounds);
  for (int i = 0; i < fours; ++i)
    in[i] = make_float4(1, 2, 3, i % lanes);
  const auto is_right = [&] {
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < blocks * lanes; ++i) {
      right = right && sums[i] == chunks * float(6 + i % lanes);
      sums[i] = -1;
    }
    return right;
  };
  copied<1, false><<<blocks, 2 * lanes>>>(in, sums, rounds);
  bool right = is_right();
  copied<2, false><<<blocks, 2 * lanes>>>(in, sums, rounds);
  right = is_right() && right;
  copied<4, false><<<blocks, 2 * lanes>>>(in, sums, rounds);
  right = is_right() && right;
  copied<4, true><<<blocks, 2 * lanes>>>(in, sums, rounds);
  right = is_right() && right;
  std::printf("%s\n", right ? "ok" : "wrong");
  return right ? 0 : 1;
}
