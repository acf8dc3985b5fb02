// flags: -arch=sm_90a -std=c++17
// gpu: h100-sxm
// Sparse products of warp groups, with A in shared memory and in registers, of halves and of bytes.
#include "../expect.h"
#include <cstdint>
#include <cuda_fp16.h>
__device__ unsigned sh(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
/// Core matrices of 8 rows of 16 bytes lie one after the other; `stride`: from 8 rows to the next.
__device__ uint64_t descriptor(const void* p, unsigned stride) { return uint64_t((sh(p) & 0x3ffff) >> 4) | uint64_t(128 >> 4) << 16 | uint64_t(stride >> 4) << 32; }
template <class T> __device__ void put(T* tile, int row, int k, int depth, float value) {
  constexpr int of_chunk = 16 / sizeof(T);
  tile[row / 8 * 8 * depth + k / of_chunk * 8 * of_chunk + row % 8 * of_chunk + k % of_chunk] = T(value);
}
__host__ __device__ int packed(int row, int k) { return (row * 3 + k) % 5 - 2; }
__host__ __device__ int dense(int k, int column) { return (column * 3 + k) % 7 - 3; }
/// Returns the column of an element of A, which has two of each four: the first word's rows have 0 and 3, the other ones 1 and 2.
__host__ __device__ int place(int row, int k) { return k / 2 * 4 + (row % 16 < 8 ? k % 2 * 3 : 1 + k % 2); }
constexpr unsigned places = 0x9999cccc;

__global__ void multiply(float* from_shared, float* from_registers, int* of_bytes) {
  __shared__ alignas(128) __half a[64 * 16], b[8 * 32];
  __shared__ alignas(128) signed char c[64 * 32], d[8 * 64];
  const int t = threadIdx.x;
  for (int i = t; i < 64 * 16; i += 128) put(a, i / 16, i % 16, 16, packed(i / 16, i % 16));
  for (int i = t; i < 8 * 32; i += 128) put(b, i / 32, i % 32, 32, dense(i % 32, i / 32));
  for (int i = t; i < 64 * 32; i += 128) put(c, i / 32, i % 32, 32, packed(i / 32, i % 32));
  for (int i = t; i < 8 * 64; i += 128) put(d, i / 64, i % 64, 64, dense(i % 64, i / 64));
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  float s[4] = {}, r[4] = {};
  int n[4] = {};
  unsigned row[4]; // of A, as a warp's product has them
  for (int word = 0; word < 4; ++word) {
    const int m = t / 32 * 16 + t % 32 / 4 + word % 2 * 8, k = 2 * (t % 4) + word / 2 * 8;
    const __half2 both = __floats2half2_rn(packed(m, k), packed(m, k + 1));
    row[word] = reinterpret_cast<const unsigned&>(both);
  }
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;" : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "l"(descriptor(a, 256)), "l"(descriptor(b, 512)), "r"(places));
  asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, %9, 1, 1, 1, 1, 0;" : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "r"(row[0]), "r"(row[1]), "r"(row[2]), "r"(row[3]), "l"(descriptor(b, 512)), "r"(places));
  asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, %6, 0, 1;" : "+r"(n[0]), "+r"(n[1]), "+r"(n[2]), "+r"(n[3]) : "l"(descriptor(c, 256)), "l"(descriptor(d, 512)), "r"(places));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) {
    const int m = t / 32 * 16 + t % 32 / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2;
    from_shared[m * 8 + column] = s[i], from_registers[m * 8 + column] = r[i], of_bytes[m * 8 + column] = n[i];
  }
}
int main() {
  auto *s = device(std::vector<float>(512)), *r = device(std::vector<float>(512)); auto* n = device(std::vector<int>(512));
  multiply<<<1, 128>>>(s, r, n);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto from_shared = host(s, 512), from_registers = host(r, 512); const auto of_bytes = host(n, 512);
  int bad[3] = {};
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 8; ++column) {
      int halves = 0, bytes = 0;
      for (int k = 0; k < 32; ++k) (k < 16 ? halves : bytes) += packed(row, k) * dense(place(row, k), column);
      bytes += halves;
      bad[0] += from_shared[row * 8 + column] != halves, bad[1] += from_registers[row * 8 + column] != halves, bad[2] += of_bytes[row * 8 + column] != bytes;
    }
  EXPECT(bad[0] == 0); EXPECT(bad[1] == 0); EXPECT(bad[2] == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
