// One warp of a block copies an array to shared memory, chunk by chunk; two others sum it up. They hand chunks
// over by barriers in shared memory, a full and an empty one for each of STAGES places.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int chunk_words = 256, consumers = 64;

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void make(const uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals) : "memory");
}
__device__ void arrive(const uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}
__device__ void wait_for(const uint64_t* barrier, unsigned parity) {
  unsigned is_over = 0;
  while (!is_over)
    asm volatile(
        "{.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;}"
        : "=r"(is_over)
        : "r"(address_of(barrier)), "r"(parity)
        : "memory");
}
__device__ void copy(const uint64_t* barrier, float* to, const float* from) {
  constexpr int bytes = chunk_words * sizeof(float);
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(barrier)), "n"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          address_of(to)),
      "l"(from), "n"(bytes), "r"(address_of(barrier))
      : "memory");
}

template <int stages> __global__ void handed_over(const float* in, float* sums, int chunks) {
  __shared__ alignas(128) float places[stages][chunk_words];
  __shared__ alignas(8) uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      make(full + i, 1);
      make(empty + i, consumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  const float* own = in + static_cast<size_t>(blockIdx.x) * chunks * chunk_words;
  if (threadIdx.x >= consumers) {
    if (threadIdx.x == consumers)
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const int place = chunk % stages;
        wait_for(empty + place, (chunk / stages + 1) % 2);
        copy(full + place, places[place], own + chunk * chunk_words);
      }
    return;
  }
  float sum = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int place = chunk % stages;
    wait_for(full + place, chunk / stages % 2);
    for (int i = threadIdx.x; i < chunk_words; i += consumers)
      sum += places[place][i];
    asm volatile("bar.sync 1, 64;" ::: "memory"); // the consumers only
    arrive(empty + place);
  }
  sums[blockIdx.x * consumers + threadIdx.x] = sum;
}

int main() {
  constexpr int blocks = 16, chunks = 64, words = blocks * chunks * chunk_words;
  float *in, *sums;
  cudaMallocManaged(&in, words * sizeof(float));
  cudaMallocManaged(&sums, blocks * consumers * sizeof(float));
  for (int i = 0; i < words; ++i)
    in[i] = i % 7;
  const auto is_right = [&] {
    if (cudaDeviceSynchronize() != cudaSuccess)
      return false;
    for (int i = 0; i < blocks * consumers; ++i) {
      float sum = 0;
      for (int word = i % consumers; word < chunks * chunk_words; word += consumers)
        sum += in[static_cast<size_t>(i / consumers) * chunks * chunk_words + word];
      if (sums[i] != sum)
        return false;
      sums[i] = -1;
    }
    return true;
  };
  handed_over<1><<<blocks, consumers + 32>>>(in, sums, chunks);
  const bool one = is_right();
  handed_over<4><<<blocks, consumers + 32>>>(in, sums, chunks);
  const bool four = is_right();
  std::printf("%s\n", one && four ? "ok" : "wrong");
  return one && four ? 0 : 1;
}
