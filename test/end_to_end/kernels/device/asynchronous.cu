// flags: -arch=sm_80
// flags: -arch=sm_90
// Copies that run beside the kernel, and waits for them: cuda::barrier, cuda::pipeline, memcpy_async in
// its spellings, and the C primitives under them.
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

constexpr int threads = 128, rounds = 5;
__device__ int input[threads * rounds];

__global__ void fill(int* out) {
  for (int i = threadIdx.x; i < threads * rounds; i += blockDim.x)
    input[i] = 3 * i + 1;
  *out = 1;
}

/// Arrival and wait apart; each phase reads what the others wrote before.
__global__ void split_barrier(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[2][threads];
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    values[round % 2][threadIdx.x] = input[round * threads + threadIdx.x];
    auto token = barrier.arrive();
    sum += round;
    barrier.wait(std::move(token));
    sum += values[round % 2][(threadIdx.x + 1) % threads];
  }
  out[threadIdx.x] = sum;
}

__global__ void dropping(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int left;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    left = 0;
  }
  __syncthreads();
  if (threadIdx.x % 2) {
    barrier.arrive_and_drop();
    out[threadIdx.x] = -1;
    return;
  }
  barrier.arrive_and_wait();
  atomicAdd(&left, 1);
  barrier.arrive_and_wait(); // waits for the threads that are left
  out[threadIdx.x] = left;
}

__global__ void barrier_copy(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[threads];
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  block.sync();
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    cuda::memcpy_async(block, tile, input + round * threads, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
    barrier.arrive_and_wait();
    sum += tile[threads - 1 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = sum;
}

__global__ void group_copy(int* out) {
  __shared__ alignas(16) int tile[threads];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, input, sizeof(tile));
  cg::wait(block);
  out[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

/// Two stages, shared by the block.
__global__ void block_pipeline(int* out) {
  constexpr int stages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ alignas(16) int tiles[stages][threads];
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int round = 0, fetched = 0; round < rounds; ++round) {
    for (; fetched < rounds && fetched < round + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tiles[fetched % stages], input + fetched * threads, sizeof(int) * threads,
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tiles[round % stages][threads - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}

/// One half of the block fetches, the other computes.
__global__ void two_roles(int* out) {
  constexpr int stages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ int tiles[stages][threads];
  auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < threads / 2;
  auto pipeline = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (produces) {
      pipeline.producer_acquire();
      for (int i = threadIdx.x; i < threads; i += threads / 2)
        cuda::memcpy_async(&tiles[round % stages][i], input + round * threads + i, sizeof(int), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      sum += tiles[round % stages][threadIdx.x] + tiles[round % stages][threadIdx.x - threads / 2];
      pipeline.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

__global__ void thread_pipeline(int* out) {
  __shared__ int tile[threads];
  auto pipeline = cuda::make_pipeline();
  pipeline.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], &input[threadIdx.x], sizeof(int), pipeline);
  pipeline.producer_commit();
  pipeline.consumer_wait();
  out[threadIdx.x] = tile[threadIdx.x];
  pipeline.consumer_release();
}

__global__ void primitives(int* out) {
  __shared__ alignas(16) int tile[threads];
  __shared__ __mbarrier_t barrier;
  if (threadIdx.x == 0)
    __mbarrier_init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x < threads / 4)
    __pipeline_memcpy_async(tile + 4 * threadIdx.x, input + 4 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  while (!__mbarrier_test_wait(&barrier, token)) {
  }
  int value = tile[threads - 1 - threadIdx.x];
  __syncthreads();
  __pipeline_memcpy_async(tile + threadIdx.x, input + threadIdx.x, 4, 4); // the source is left out: zeros
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = value + tile[threadIdx.x];
}

int sum_of_rounds(int column) {
  int sum = 0;
  for (int round = 0; round < rounds; ++round)
    sum += 3 * (round * threads + column) + 1;
  return sum;
}

int main() {
  check<int>("input", fill, 1, threads, 1, [](int) { return 1; });
  check<int>("barrier", split_barrier, 3, threads, threads,
             [](int i) { return sum_of_rounds((i + 1) % threads) + rounds * (rounds - 1) / 2; });
  check<int>("drop", dropping, 1, threads, threads, [](int i) { return i % 2 ? -1 : threads / 2; });
  check<int>("copy to a barrier", barrier_copy, 2, threads, threads,
             [](int i) { return sum_of_rounds(threads - 1 - i); });
  check<int>("copy of a group", group_copy, 1, threads, threads,
             [](int i) { return 3 * (threads - 1 - i) + 1; });
  check<int>("pipeline of a block", block_pipeline, 2, threads, threads,
             [](int i) { return sum_of_rounds(threads - 1 - i); });
  check<int>("pipeline with roles", two_roles, 1, threads, threads,
             [](int i) { return i < threads / 2 ? 0 : sum_of_rounds(i) + sum_of_rounds(i - threads / 2); });
  check<int>("pipeline of a thread", thread_pipeline, 1, threads, threads, [](int i) { return 3 * i + 1; });
  check<int>("primitives", primitives, 1, threads, threads, [](int i) { return 3 * (threads - 1 - i) + 1; });
}
