// flags: -arch=sm_80
// flags: -arch=sm_90
// Atomics: CUDA's functions at all widths and scopes, and cuda::atomic.
#include "check.h"

#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int blocks = 8, threads = 64, total = blocks * threads;

__device__ int rank() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void functions(unsigned long long* out) {
  const unsigned i = rank();
  atomicAdd(reinterpret_cast<int*>(out), 1);
  atomicAdd(reinterpret_cast<unsigned*>(out + 1), 2U);
  atomicAdd(out + 2, 1ULL << 33);
  atomicSub(reinterpret_cast<int*>(out + 3), 1);
  atomicMax(reinterpret_cast<int*>(out + 4), static_cast<int>(i) - 100);
  atomicMin(reinterpret_cast<long long*>(out + 5), -static_cast<long long>(i));
  atomicMax(out + 6, (unsigned long long)i << 32);
  atomicAnd(reinterpret_cast<unsigned*>(out + 7), i); // starts at 0
  atomicOr(out + 8, 1ULL << (i % 64));
  atomicXor(reinterpret_cast<unsigned*>(out + 9), 1U << (i % 31));
  atomicInc(reinterpret_cast<unsigned*>(out + 10), 99U);
  atomicDec(reinterpret_cast<unsigned*>(out + 11), 99U);
  atomicExch(reinterpret_cast<float*>(out + 12), 2.0f);
  atomicAdd_block(reinterpret_cast<int*>(out + 13) + 0, 1);
  atomicAdd_system(out + 14, 3ULL);
  atomicCAS_system(reinterpret_cast<int*>(out + 15), 0, 5);
  unsigned short* small = reinterpret_cast<unsigned short*>(out + 16);
  for (unsigned short old = *small, before;; old = before)
    if ((before = atomicCAS(small, old, static_cast<unsigned short>(old + 1))) == old)
      break;
}

__global__ void floating(double* out) {
  atomicAdd(reinterpret_cast<float*>(out), 0.5f);
  atomicAdd(out + 1, 0.25);
  atomicAdd(reinterpret_cast<__half2*>(out + 2), __floats2half2_rn(0.5f, 1));
  atomicAdd(reinterpret_cast<__nv_bfloat162*>(out + 3), __floats2bfloat162_rn(0.5f, 0.25f));
  atomicAdd(reinterpret_cast<__half*>(out + 4), __float2half(0.5f));
}

template <cuda::thread_scope scope> __device__ void scoped(int* out) {
  cuda::atomic_ref<int, scope> value(*out);
  value.fetch_add(1, cuda::memory_order_relaxed);
  value.fetch_sub(2);
  value.fetch_add(3, cuda::memory_order_acq_rel);
  ++value;
  cuda::atomic_ref<int, scope> largest(out[1]);
  largest.fetch_max(rank());
  cuda::atomic_ref<int, scope> count(out[2]);
  int expected = count.load(cuda::memory_order_acquire);
  while (!count.compare_exchange_weak(expected, expected + 1, cuda::memory_order_release)) {
  }
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, scope);
}

__global__ void scopes(int* out) {
  scoped<cuda::thread_scope_device>(out);
  scoped<cuda::thread_scope_system>(out + 3);
  __shared__ cuda::atomic<int, cuda::thread_scope_block> of_block;
  __shared__ int plain[3];
  if (threadIdx.x == 0) {
    of_block = 0;
    plain[0] = plain[1] = plain[2] = 0;
  }
  __syncthreads();
  scoped<cuda::thread_scope_block>(plain);
  of_block += 2;
  __syncthreads();
  if (rank() == 0) {
    out[6] = of_block.load();
    out[7] = plain[0];
    out[8] = plain[2];
  }
}

struct Pair {
  int low, high;
  __host__ __device__ bool operator==(const Pair& other) const {
    return low == other.low && high == other.high;
  }
};

__global__ void of_other_types(double* out) {
  cuda::atomic_ref<double, cuda::thread_scope_device> sum(out[0]);
  sum.fetch_add(0.5);
  cuda::atomic_ref<float, cuda::thread_scope_device> single(*reinterpret_cast<float*>(out + 1));
  single.fetch_add(0.5f);
  cuda::atomic_ref<unsigned char, cuda::thread_scope_device> narrow(
      *reinterpret_cast<unsigned char*>(out + 2));
  narrow.fetch_or(1);
  cuda::atomic_ref<Pair, cuda::thread_scope_device> pair(*reinterpret_cast<Pair*>(out + 3));
  Pair before = pair.load();
  while (!pair.compare_exchange_weak(before, Pair{before.low + 1, before.high - 1})) {
  }
}

/// The later blocks wait for the values that the earlier ones publish; the last to arrive resets.
__global__ void hand_over(int* out) {
  auto* turn = reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device>*>(out);
  if (threadIdx.x == 0) {
    while (turn->load(cuda::memory_order_acquire) != static_cast<int>(blockIdx.x)) {
    }
    out[1] = out[1] * 2 + 1;
    turn->store(blockIdx.x + 1, cuda::memory_order_release);
    turn->notify_all();
  }
}

int main() {
  check<unsigned long long>("functions", functions, blocks, threads, 17, [](int i) -> unsigned long long {
    const unsigned long long expected[] = {total,
                                           2 * total,
                                           static_cast<unsigned long long>(total) << 33,
                                           static_cast<unsigned>(-total),
                                           total - 101,
                                           static_cast<unsigned long long>(1 - total),
                                           static_cast<unsigned long long>(total - 1) << 32,
                                           0,
                                           ~0ULL,
                                           0,
                                           total % 100,
                                           (100 - total % 100) % 100,
                                           0x40000000,
                                           total,
                                           3 * total,
                                           5,
                                           total};
    if (i == 9) {
      unsigned bits = 0;
      for (int t = 0; t < total; ++t)
        bits ^= 1U << (t % 31);
      return bits;
    }
    return expected[i];
  });
  double* sums;
  cudaMallocManaged(&sums, 5 * sizeof(double));
  for (int i = 0; i < 5; ++i)
    sums[i] = 0;
  floating<<<blocks, threads>>>(sums);
  cudaDeviceSynchronize();
  const auto halves = *reinterpret_cast<__half2*>(sums + 2);
  const auto brains = *reinterpret_cast<__nv_bfloat162*>(sums + 3);
  // bfloat16 has 8 bits: sums in steps of 0.25 stop growing at 64.
  const bool right = *reinterpret_cast<float*>(sums) == total / 2 && sums[1] == total / 4 &&
                     __low2float(halves) == total / 2 && __high2float(halves) == total &&
                     __low2float(brains) == 128 && __high2float(brains) == 64 &&
                     __half2float(*reinterpret_cast<__half*>(sums + 4)) == total / 2;
  std::printf("floating: %s\n", right ? "right" : "wrong");
  check<int>("scopes", scopes, blocks, threads, 9, [](int i) {
    const int expected[] = {3 * total, total - 1,   total,       3 * total, total - 1,
                            total,     2 * threads, 3 * threads, threads};
    return expected[i];
  });
  double* others;
  cudaMallocManaged(&others, 4 * sizeof(double));
  for (int i = 0; i < 4; ++i)
    others[i] = 0;
  of_other_types<<<blocks, threads>>>(others);
  cudaDeviceSynchronize();
  std::printf("other types: %s\n", others[0] == total / 2 &&
                                           *reinterpret_cast<float*>(others + 1) == total / 2 &&
                                           *reinterpret_cast<unsigned char*>(others + 2) == 1 &&
                                           *reinterpret_cast<Pair*>(others + 3) == Pair{total, -total}
                                       ? "right"
                                       : "wrong");
  check<int>("hand over", hand_over, blocks, threads, 2,
             [](int i) { return i ? (1 << blocks) - 1 : blocks; });
}
