// An array that blocks, one on each SM, read into shared memory in the background:
// by each thread's own copies, or by one thread's copies of boxes of a matrix. Nothing reads what arrives.
//
// Usage: background_streams BLOCKS WAY BYTES STAGES ROUNDS
//   way 64, 128, 256 or 1024: that many threads, copies of BYTES 4 or 16, STAGES 1, 2, 4 or 8 of them on their way
//   way 0: boxes of BYTES, in rows of 256, by tensor map, STAGES of them on their way
#include "program.h"

#include <cuda.h>
#include <cuda_pipeline.h>

/// From one of a thread's copies to the next lie as many as there are stages, of all threads.
template <class Vector, int stages, int threads>
__global__ void copy_by_threads(const Vector* in, int rounds) {
  __shared__ Vector memory[stages][threads];
  const int step = stages * gridDim.x * threads, first = blockIdx.x * threads + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    __pipeline_wait_prior(stages - 1);
    __pipeline_memcpy_async(&memory[round % stages][threadIdx.x], in + first + round * step, sizeof(Vector));
    __pipeline_commit();
  }
  __pipeline_wait_prior(0);
}

__device__ void wait_for(unsigned barrier, unsigned parity) {
  unsigned passed = 0;
  while (!passed)
    asm volatile(
        "{.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;}"
        : "=r"(passed)
        : "r"(barrier), "r"(parity)
        : "memory");
}

__device__ void copy_box(const CUtensorMap& map, int row, unsigned to, unsigned bytes, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(barrier), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
               "{%2, %3}], "
               "[%4];"
               :
               : "r"(to), "l"(&map), "r"(0), "r"(row), "r"(barrier)
               : "memory");
}

/// One warp waits for the oldest box and has its first lane ask for the next.
__global__ void copy_by_boxes(const __grid_constant__ CUtensorMap map, int rows_of_box, int bytes, int stages,
                              int rounds) {
  extern __shared__ __align__(128) char memory[];
  __shared__ unsigned long long barriers[64];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(address_of(barriers + stage)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  __syncthreads();
  for (int round = 0; round < rounds + stages; ++round) {
    const int stage = round % stages;
    const unsigned barrier = address_of(barriers + stage);
    if (round >= stages)
      wait_for(barrier, (round / stages - 1) % 2);
    if (threadIdx.x == 0 && round < rounds)
      copy_box(map, (round * gridDim.x + blockIdx.x) * rows_of_box, address_of(memory) + stage * bytes, bytes,
               barrier);
  }
}

template <class Vector, int threads, int stages>
void stream_in_stages(const Vector* in, int blocks, int rounds) {
  constexpr std::size_t most = 48 * 1024; // bytes of shared memory that a kernel declares
  if constexpr (stages * threads * sizeof(Vector) <= most)
    copy_by_threads<Vector, stages, threads><<<blocks, threads>>>(in, rounds);
}

template <class Vector, int threads> void stream(int blocks, int stages, int rounds) {
  const Vector* in = allocate<Vector>(std::size_t(blocks) * threads * stages * rounds);
  switch (stages) {
  case 1: return stream_in_stages<Vector, threads, 1>(in, blocks, rounds);
  case 2: return stream_in_stages<Vector, threads, 2>(in, blocks, rounds);
  case 4: return stream_in_stages<Vector, threads, 4>(in, blocks, rounds);
  default: return stream_in_stages<Vector, threads, 8>(in, blocks, rounds);
  }
}

template <class Vector> void stream_by(int threads, int blocks, int stages, int rounds) {
  if (threads == 64)
    stream<Vector, 64>(blocks, stages, rounds);
  else if (threads == 128)
    stream<Vector, 128>(blocks, stages, rounds);
  else if (threads == 256)
    stream<Vector, 256>(blocks, stages, rounds);
  else
    stream<Vector, 1024>(blocks, stages, rounds);
}

void stream_boxes(int blocks, int bytes, int stages, int rounds) {
  constexpr int row_bytes = 256;
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  const int rows_of_box = bytes / row_bytes;
  const cuuint64_t sizes[] = {row_bytes / 4, cuuint64_t(blocks) * rounds * rows_of_box},
                   strides[] = {row_bytes};
  const cuuint32_t box[] = {row_bytes / 4, cuuint32_t(rows_of_box)}, steps[] = {1, 1};
  CUtensorMap map;
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, allocate<char>(sizes[1] * row_bytes), sizes, strides, box,
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  cudaFuncSetAttribute(copy_by_boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, stages * bytes);
  copy_by_boxes<<<blocks, 32, stages * bytes>>>(map, rows_of_box, bytes, stages, rounds);
}

int main(int count, char** values) {
  const int blocks = argument(count, values, 1, 148), way = argument(count, values, 2, 128);
  const int bytes = argument(count, values, 3, 16), stages = argument(count, values, 4, 1);
  const int rounds = argument(count, values, 5, 512);
  if (way == 0)
    stream_boxes(blocks, bytes, stages, rounds);
  else if (bytes == 16)
    stream_by<float4>(way, blocks, stages, rounds);
  else
    stream_by<float>(way, blocks, stages, rounds);
  return finish();
}
