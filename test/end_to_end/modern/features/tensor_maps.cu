// flags: -arch=sm_90a -std=c++17 -lcuda
// gpu: h100-sxm
// A tensor map that a kernel changes in shared memory and publishes: address, sizes, stride, box and type.
#include "../expect.h"
#include <cstdint>
#include <cuda.h>
__device__ unsigned sh(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__global__ void change(const __grid_constant__ CUtensorMap given, CUtensorMap* changed, const short* other, int* out) {
  __shared__ alignas(128) CUtensorMap map;
  __shared__ alignas(128) short tile[4 * 16];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  reinterpret_cast<int*>(&map)[t] = reinterpret_cast<const int*>(&given)[t];
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sh(&bar)));
  __syncwarp();
  if (t == 0) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(sh(&map)), "l"(other) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(sh(&map)), "r"(14) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(sh(&map)), "r"(3) : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(sh(&map)), "l"(64ull) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(sh(&map)), "r"(16) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(sh(&map)), "r"(4) : "memory");
    asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 1;" ::"r"(sh(&map)) : "memory"); // u16
  }
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(changed), "r"(sh(&map)) : "memory");
  __syncwarp();
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(changed) : "memory");
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(sh(&bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(sh(tile)), "l"(changed), "r"(0), "r"(0), "r"(sh(&bar)) : "memory");
  }
  unsigned ok = 0;
  while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sh(&bar)) : "memory");
  for (int i = t; i < 4 * 16; i += 32) out[i] = tile[i];
}
int main() {
  std::vector<short> numbers(4 * 32);
  for (int i = 0; i < 4 * 32; ++i) numbers[i] = i + 1;
  auto* other = device(numbers);
  auto* unused = device(std::vector<int>(64));
  CUtensorMap map;
  const cuuint64_t sizes[] = {8, 8}, strides[] = {32}; const cuuint32_t box[] = {8, 8}, steps[] = {1, 1};
  EXPECT(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, unused, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  CUtensorMap* changed; int* out;
  cudaMalloc(&changed, sizeof map), cudaMalloc(&out, 64 * sizeof(int));
  change<<<1, 32>>>(map, changed, other, out);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto got = host(out, 64);
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 16; ++column) EXPECT(got[row * 16 + column] == (row < 3 && column < 14 ? numbers[row * 32 + column] : 0));
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
