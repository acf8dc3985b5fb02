// The blocks of a cluster hand words over: one loads them from memory and stores them in the shared memory of
// the other one, which loads something, too, before it lets the place be filled again. Stores are asynchronous
// ones of registers (st.async), or copies of shared memory in bulk; each tells the other block's barrier.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int clusters = 4, chunks = 64, words = 4;

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
/// Returns the address in a block of the cluster that an address here has there.
__device__ unsigned in_block(unsigned address, unsigned rank) {
  asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
  return address;
}
__device__ void wait_for(const uint64_t* barrier, unsigned parity) {
  unsigned is_over = 0;
  while (!is_over)
    asm volatile("{.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;}"
                 : "=r"(is_over)
                 : "r"(address_of(barrier)), "r"(parity)
                 : "memory");
}
__device__ void meet() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

template <int places, bool in_bulk> __global__ void __cluster_dims__(2) handed_over(const int4* in, int* sums) {
  __shared__ alignas(16) int4 chunk[places], own[places];
  __shared__ uint64_t full[places], empty[places];
  const unsigned rank = blockIdx.x % 2;
  if (threadIdx.x == 0)
    for (int i = 0; i < places; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(full + i)) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(empty + i)) : "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(address_of(full + i)) : "memory");
    }
  asm volatile("fence.mbarrier_init.release.cluster;");
  meet();
  in += blockIdx.x * chunks * 32; // a line for each chunk
  if (threadIdx.x == 0 && rank == 0)
    for (int i = 0; i < chunks; ++i) {
      const int place = i % places;
      if (i >= places)
        wait_for(empty + place, (i / places + 1) % 2);
      const int4 four = in[i * 32];
      const unsigned to = in_block(address_of(chunk + place), 1), barrier = in_block(address_of(full + place), 1);
      if constexpr (in_bulk) {
        own[place] = four;
        asm volatile("fence.proxy.async;\n\tcp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(to),
                     "r"(address_of(own + place)), "r"(barrier)
                     : "memory");
      } else {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(four.x),
                     "r"(four.y), "r"(four.z), "r"(four.w), "r"(barrier)
                     : "memory");
      }
    }
  if (threadIdx.x == 0 && rank == 1) {
    int sum = 0;
    for (int i = 0; i < chunks; ++i) {
      const int place = i % places;
      wait_for(full + place, i / places % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(address_of(full + place)) : "memory");
      const int4 four = chunk[place];
      sum += four.x + four.y + four.z + four.w;
      sum += in[i * 32 + (sum == -1)].x; // which depends on what came
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(address_of(empty + place), 0) + (sum == -1))
                   : "memory");
    }
    sums[blockIdx.x / 2] = sum;
  }
  meet();
}

int main() {
  constexpr int fours = 2 * clusters * chunks * 32;
  int4* in;
  int* sums;
  cudaMallocManaged(&in, fours * sizeof *in);
  cudaMallocManaged(&sums, clusters * sizeof *sums);
  for (int i = 0; i < fours; ++i)
    in[i] = make_int4(i % 13, 1, 2, 3);
  const auto is_right = [&] {
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    for (int cluster = 0; cluster < clusters; ++cluster) {
      int sum = 0;
      for (int i = 0; i < chunks; ++i)
        sum += (2 * cluster * chunks + i) * 32 % 13 + 6 + ((2 * cluster + 1) * chunks + i) * 32 % 13;
      right = right && sums[cluster] == sum;
      sums[cluster] = -1;
    }
    return right;
  };
  handed_over<1, false><<<2 * clusters, 32>>>(in, sums);
  bool right = is_right();
  handed_over<4, false><<<2 * clusters, 32>>>(in, sums);
  right = is_right() && right;
  handed_over<1, true><<<2 * clusters, 32>>>(in, sums);
  right = is_right() && right;
  handed_over<4, true><<<2 * clusters, 32>>>(in, sums);
  right = is_right() && right;
  std::printf("%s\n", right ? "ok" : "wrong");
  return right ? 0 : 1;
}
