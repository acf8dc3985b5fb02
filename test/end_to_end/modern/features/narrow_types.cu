// flags: -arch=sm_100a -std=c++17 -lcuda
// gpu: b200
// Matrices of bytes, and of 6 and 4 bits, from shared memory; products of tensor memory of such floats and with scales
// of blocks; rows of a tensor that are gathered and scattered.
#include "../expect.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cuda.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
__device__ unsigned sh(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void wait(const uint64_t* bar, unsigned phase) {
  unsigned ok = 0;
  while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sh(bar)), "r"(phase) : "memory");
}

constexpr int words = 12; // of a lane
__global__ void matrices(const unsigned char* in, unsigned* out, unsigned char* stored) {
  __shared__ alignas(128) unsigned char tile[512], target[256];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 32) tile[i] = in[i];
  __syncwarp();
  unsigned* r = out + t * words;
  const unsigned row = sh(tile + t * 16);
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%0, %1}, [%2];" : "=r"(r[4]), "=r"(r[5]) : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%0, %1}, [%2];" : "=r"(r[6]), "=r"(r[7]) : "r"(row));
  asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(sh(target + t % 8 * 16)), "r"(t * 0x04040404u + 0x03020100u) : "memory");
  __syncwarp();
  for (int i = t; i < 128; i += 32) stored[i] = target[i];
}

constexpr int rows = 128, columns = 32;
enum Kind { e4m3, e2m1_by_e3m2, scaled, scaled_nibbles, kinds };
/// A product of 128 × 32 × 32 bytes; with scales, those of A's row r are 2^(r % 3), and those of B's columns one.
__global__ void multiply(const unsigned char* in, float* out, int kind) {
  __shared__ alignas(1024) unsigned char a[rows * 32], b[columns * 32];
  __shared__ alignas(128) unsigned char scales[1024];
  __shared__ alignas(8) uint64_t bar;
  __shared__ unsigned allocated;
  const int t = threadIdx.x;
  const auto place = [](int row, int byte) { return row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16; };
  for (int i = t; i < rows * 32; i += 128) a[place(i / 32, i % 32)] = in[i];
  for (int i = t; i < columns * 32; i += 128) b[place(i / 32, i % 32)] = in[rows * 32 + i];
  const int one = kind == scaled_nibbles ? 0x38 : 127, step = kind == scaled_nibbles ? 8 : 1; // e4m3 or a power of two
  for (int i = t; i < 512; i += 128) scales[i] = one + (i / 16 + i % 16 / 4 * 32) % 3 * step, scales[512 + i] = one;
  if (t < 32) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(sh(&allocated)) : "memory");
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&bar)));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned sums = allocated;
  const auto descriptor = [](const void* p, unsigned leading, unsigned stride) { return uint64_t((sh(p) & 0x3ffff) >> 4) | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | 1ull << 46; };
  const uint64_t of_a = descriptor(a, 128, 256), of_b = descriptor(b, 128, 256);
  const unsigned shape = columns / 8 << 17 | rows / 16 << 24;
  if (t == 0) {
    if (kind < scaled) {
      const unsigned id = shape | 1 << 4 | (kind == e4m3 ? 0 : 5 << 7 | 4 << 10);
      asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p; }" ::"r"(sums), "l"(of_a), "l"(of_b), "r"(id) : "memory");
    } else {
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(sums + 64), "l"(descriptor(scales, 128, 128)) : "memory");
      asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(sums + 96), "l"(descriptor(scales + 512, 128, 128)) : "memory");
      if (kind == scaled)
        asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(sums), "l"(of_a), "l"(of_b), "r"(shape | 1 << 23), "r"(sums + 64), "r"(sums + 96) : "memory");
      else
        asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%0], %1, %2, %3, [%4], [%5], p; }" ::"r"(sums), "l"(of_a), "l"(of_b), "r"(shape | 1 << 7 | 1 << 10), "r"(sums + 64), "r"(sums + 96) : "memory");
    }
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(sh(&bar)) : "memory");
  }
  wait(&bar, 0);
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int column = 0; column < columns; ++column) {
    unsigned sum;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(sum) : "r"(sums + (t / 32 * 32 << 16) + column));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[t * columns + column] = __uint_as_float(sum);
  }
  __syncthreads();
  if (t < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(sums));
}
__global__ void move_rows(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) int tile[4 * 32];
  __shared__ alignas(8) uint64_t bar;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&bar)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(sh(&bar)) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(sh(tile)), "l"(&from), "r"(0), "r"(3), "r"(1), "r"(-1), "r"(5), "r"(sh(&bar)) : "memory");
  wait(&bar, 0);
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(&to), "r"(0), "r"(6), "r"(2), "r"(0), "r"(4), "r"(sh(tile)) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

float e2m1(int bits) { __nv_fp4_e2m1 x; x.__x = bits; return float(x); }
int bits_at(const unsigned char* packed, int bits, int index) { return (packed[bits * index / 8] | packed[bits * index / 8 + 1] << 8) >> bits * index % 8 & ((1 << bits) - 1); }
int main() {
  std::vector<unsigned char> in(rows * 32 + columns * 32 + 1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u >> 13;
  auto* out = device(std::vector<unsigned>(32 * words)); auto* stored = device(std::vector<unsigned char>(128));
  matrices<<<1, 32>>>(device(in), out, stored);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto r = host(out, 32 * words);
  int bad = 0;
  for (int t = 0; t < 32; ++t)
    for (int byte = 0; byte < 4; ++byte) {
      const auto got = [&](int word) { return int(r[t * words + word] >> 8 * byte & 255); };
      const int row = t / 4, column = t % 4 * 4 + byte;
      for (int word = 0; word < 4; ++word) bad += got(word) != in[(word / 2 * 16 + column) * 16 + row + word % 2 * 8];
      for (int word = 0; word < 2; ++word) {
        bad += got(4 + word) != bits_at(&in[column * 16], 6, row + 8 * word);
        bad += got(6 + word) != bits_at(&in[(8 * word + row) * 16], 4, column) << 2;
      }
    }
  EXPECT(bad == 0);
  const auto s = host(stored, 128);
  for (int column = 0; column < 8; ++column)
    for (int row = 0; row < 16; ++row) bad += s[column * 16 + row] != (row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2;
  EXPECT(bad == 0);

  for (auto& byte : in) byte &= 0x77; // no NaN
  auto* sums = device(std::vector<float>(rows * columns));
  auto* d = device(in);
  for (int kind = 0; kind < kinds; ++kind) {
    multiply<<<1, 128>>>(d, sums, kind);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    const auto got = host(sums, rows * columns);
    bad = 0;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        double sum = 0;
        for (int k = 0; k < 32; ++k) {
          const auto *a = &in[row * 32], *b = &in[(rows + column) * 32];
          __nv_fp8_e4m3 x, y; x.__x = a[k], y.__x = b[k];
          __nv_fp6_e3m2 z; z.__x = bits_at(b + k / 16 * 16, 6, k % 16);
          sum += kind == e2m1_by_e3m2     ? e2m1(bits_at(a + k / 16 * 16, 4, k % 16)) * float(z)
                 : kind == scaled_nibbles ? e2m1(a[k] & 15) * e2m1(b[k] & 15) + e2m1(a[k] >> 4) * e2m1(b[k] >> 4)
                                          : float(x) * float(y);
        }
        if (kind >= scaled) sum *= 1 << row % 3;
        bad += std::fabs(got[row * columns + column] - sum) > 1e-6 * std::fabs(sum);
      }
    if (bad) std::printf("kind %d: %d wrong\n", kind, bad), wrong = 1;
  }

  std::vector<int> numbers(8 * 32);
  for (int i = 0; i < 8 * 32; ++i) numbers[i] = i + 1;
  auto *from = device(numbers), *to = device(std::vector<int>(8 * 32));
  const auto map = [](int* p) {
    CUtensorMap made; const cuuint64_t size[] = {32, 8}, stride[] = {128}; const cuuint32_t box[] = {32, 1}, steps[] = {1, 1};
    EXPECT(cuTensorMapEncodeTiled(&made, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, size, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    return made;
  };
  move_rows<<<1, 1>>>(map(from), map(to));
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto moved = host(to, 8 * 32);
  const int came_from[] = {-1, -2, 1, -2, 5, -2, 3, -2};
  bad = 0;
  for (int i = 0; i < 8 * 32; ++i) bad += moved[i] != (came_from[i / 32] < 0 ? 0 : numbers[came_from[i / 32] * 32 + i % 32]);
  EXPECT(bad == 0);
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
