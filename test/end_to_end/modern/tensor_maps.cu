// Bulk copies of tensors: dimensions, swizzles, what lies outside, reductions, im2col.
#include "expect.h"

#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ void wait(unsigned barrier) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier)
                 : "memory");
}

/// Loads a box of `bytes` bytes with `rank` coordinates and writes it out as it lies in shared memory.
template <int rank> __global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, int z, int bytes, unsigned* out) {
  __shared__ alignas(1024) unsigned tile[1024];
  __shared__ alignas(8) uint64_t bar;
  const unsigned barrier = shared_address(&bar), to = shared_address(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    if constexpr (rank == 1)
      asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(to),
                   "l"(&map), "r"(x), "r"(barrier)
                   : "memory");
    else if constexpr (rank == 2)
      asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                   "l"(&map), "r"(x), "r"(y), "r"(barrier)
                   : "memory");
    else if constexpr (rank == 3)
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
          "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
          : "memory");
    else
      asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], "
                   "[%7];" ::"r"(to),
                   "l"(&map), "r"(x), "r"(y), "r"(z), "r"(0), "r"(0), "r"(barrier)
                   : "memory");
  }
  __syncthreads();
  wait(barrier);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    out[i] = tile[i];
}

/// The pixels of a column of a 3 × 3 filter, one position of it.
__global__ void load_columns(const __grid_constant__ CUtensorMap map, int c, int w, int h, int n, int bytes, unsigned* out) {
  __shared__ alignas(1024) unsigned tile[1024];
  __shared__ alignas(8) uint64_t bar;
  const unsigned barrier = shared_address(&bar), to = shared_address(tile);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], "
                 "{%7, %8};" ::"r"(to),
                 "l"(&map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(uint16_t(2)), "h"(uint16_t(1))
                 : "memory");
  }
  __syncthreads();
  wait(barrier);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x)
    out[i] = tile[i];
}

__global__ void add(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) float tile[4 * 8];
  tile[threadIdx.x] = float(threadIdx.x);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y),
                 "r"(shared_address(tile))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

/// The first block of a cluster of two loads for the blocks of the mask. Of each block: the first number and the
/// last of its tile, and whether its barrier has passed.
__global__ void __cluster_dims__(2) load_for_several(const __grid_constant__ CUtensorMap map, uint16_t blocks, unsigned* out) {
  __shared__ alignas(1024) unsigned tile[32];
  __shared__ alignas(8) uint64_t bar;
  const unsigned barrier = shared_address(&bar);
  if (threadIdx.x < 32)
    tile[threadIdx.x] = 7;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(barrier) : "memory");
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], "
                 "%5;" ::"r"(shared_address(tile)),
                 "l"(&map), "r"(8), "r"(4), "r"(barrier), "h"(blocks)
                 : "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  unsigned passed;
  asm volatile("{.reg .pred p;\n\tmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p;}" : "=r"(passed) : "r"(barrier));
  if (threadIdx.x == 0) {
    out[3 * blockIdx.x] = tile[0];
    out[3 * blockIdx.x + 1] = tile[31];
    out[3 * blockIdx.x + 2] = passed;
  }
}

CUresult encode(CUtensorMap* map, void* data, std::vector<cuuint64_t> sizes, std::vector<cuuint32_t> box,
                CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE, CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32) {
  std::vector<cuuint64_t> strides;
  cuuint64_t stride = 4;
  for (const cuuint64_t size : sizes)
    strides.push_back(stride *= size);
  const std::vector<cuuint32_t> steps(sizes.size(), 1);
  return cuTensorMapEncodeTiled(map, type, cuuint32_t(sizes.size()), data, sizes.data(), strides.data(), box.data(), steps.data(),
                                CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
}

int main() {
  std::vector<unsigned> numbers(64 * 32);
  for (unsigned i = 0; i < numbers.size(); ++i)
    numbers[i] = i + 1;
  unsigned *data = device(numbers), *out = device(std::vector<unsigned>(1024));
  CUtensorMap map;

  EXPECT(encode(&map, data, {2048}, {8}) == CUDA_SUCCESS);
  load<1><<<1, 32>>>(map, 2044, 0, 0, 32, out);
  auto got = host(out, 8);
  EXPECT(got[0] == 2045 && got[3] == 2048 && got[4] == 0);

  EXPECT(encode(&map, data, {64, 32}, {8, 4}) == CUDA_SUCCESS);
  for (unsigned blocks = 1; blocks < 4; ++blocks) {
    load_for_several<<<2, 32>>>(map, uint16_t(blocks), out);
    got = host(out, 6);
    for (unsigned block = 0; block < 2; ++block) {
      const bool is_target = blocks >> block & 1;
      EXPECT(got[3 * block] == (is_target ? 4 * 64 + 8 + 1 : 7) && got[3 * block + 1] == (is_target ? 7 * 64 + 15 + 1 : 7) &&
             got[3 * block + 2] == is_target);
    }
  }
  EXPECT(encode(&map, data, {64, 32}, {8, 16}, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_ERROR_NOT_SUPPORTED); // narrower than the swizzle

  // Rows of 128 bytes: chunk c of row r lies at c ^ (r % 8).
  EXPECT(encode(&map, data, {64, 32}, {32, 16}, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
  load<2><<<1, 32>>>(map, 32, 5, 0, 32 * 16 * 4, out);
  got = host(out, 32 * 16);
  for (unsigned r = 0; r < 16; ++r)
    for (unsigned x = 0; x < 32; ++x)
      if (got[r * 32 + ((x / 4) ^ (r % 8)) * 4 + x % 4] != (5 + r) * 64 + 32 + x + 1) {
        EXPECT(!"a swizzle of 128 bytes");
        r = 16;
        break;
      }
  EXPECT(encode(&map, data, {64, 32}, {8, 8}, CU_TENSOR_MAP_SWIZZLE_32B) == CUDA_SUCCESS);
  load<2><<<1, 32>>>(map, 0, 0, 0, 8 * 8 * 4, out);
  got = host(out, 64);
  EXPECT(got[0] == 1 && got[3 * 8] == 3 * 64 + 1 && got[4 * 8] == 4 * 64 + 5 && got[4 * 8 + 4] == 4 * 64 + 1);

  // Negative coordinates are outside, as are those behind the end.
  EXPECT(encode(&map, data, {16, 4, 32}, {4, 4, 4}, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
                CU_TENSOR_MAP_DATA_TYPE_FLOAT32) == CUDA_SUCCESS);
  load<3><<<1, 32>>>(map, -2, -1, 30, 4 * 4 * 4 * 4, out);
  got = host(out, 64);
  EXPECT(got[0] == 0x7fffffff && got[4 + 1] == 0x7fffffff && got[4 + 2] == 30 * 64 + 1 && got[32 + 4 + 2] == 0x7fffffff);

  EXPECT(encode(&map, data, {8, 4, 4, 4, 4}, {4, 2, 2, 2, 2}) == CUDA_SUCCESS);
  load<5><<<1, 32>>>(map, 4, 1, 2, 64 * 4, out);
  got = host(out, 64);
  EXPECT(got[0] == 4 + 8 + 2 * 32 + 1 && got[63] == 7 + 8 * 2 + 32 * 3 + 128 + 512 + 1);

  float* sums = device(std::vector<float>(8 * 8, 100));
  EXPECT(encode(&map, sums, {8, 8}, {4, 8}, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                CU_TENSOR_MAP_DATA_TYPE_FLOAT32) == CUDA_SUCCESS);
  add<<<2, 32>>>(map, 4, 2);
  const auto added = host(sums, 64);
  EXPECT(added[2 * 8 + 4] == 100 && added[3 * 8 + 5] == 110 && added[7 * 8 + 7] == 100 + 2 * 23 && added[0] == 100);

  // An image of 4 channels, 6 × 5 pixels, padded by 1: a column for the filter's element (2, 1).
  const cuuint64_t sizes[] = {4, 6, 5, 2}, strides[] = {16, 96, 480};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  const int lower[] = {-1, -1}, upper[] = {-1, -1};
  EXPECT(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, data, sizes, strides, lower, upper, 4, 12, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  load_columns<<<1, 32>>>(map, 0, -1, -1, 0, 12 * 16, out);
  got = host(out, 48);
  // Pixels go from -1 to 4 in a row; the last one's element lies outside.
  EXPECT(got[0] == 4 + 1 && got[4 * 4] == 20 + 1 && got[5 * 4] == 0 && got[6 * 4] == 24 + 4 + 1 && got[10 * 4] == 24 + 20 + 1 && got[11 * 4] == 0);

  // CUDA refuses these.
  EXPECT(encode(&map, data, {63, 32}, {4, 4}) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(encode(&map, data, {64, 32}, {257, 4}) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(encode(&map, data, {64, 32}, {64, 4}, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaGetLastError() == cudaSuccess);
  if (!wrong)
    std::puts("all right");
  return wrong;
}
