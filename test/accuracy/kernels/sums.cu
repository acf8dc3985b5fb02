// Sums of an array of floats or whole numbers, by several ways to load it and to add up what the threads of a
// block have.
//
// Usage: sums TYPE [ELEMENTS]    0 for floats in blocks of 256, 1 for whole numbers in blocks of 512; 2^25
#include "program.h"

template <class Number, int THREADS> __device__ void add_halves(Number* sums, int least) {
#pragma unroll
  for (int half = THREADS / 2; half > least; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
}

/// The first warp adds up the rest without barriers of the block.
template <class Number> __device__ void add_in_warp(volatile Number* sums) {
#pragma unroll
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half];
    __syncwarp();
  }
}

template <class Number> __device__ Number sum_of_warp(Number value) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2)
    value += __shfl_down_sync(~0u, value, apart);
  return value;
}

/// Returns the block's sum to its first thread.
template <class Number, int THREADS> __device__ Number sum_of_block(Number value) {
  __shared__ Number sums[THREADS / 32];
  value = sum_of_warp(value);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32)
    return 0;
  return sum_of_warp(threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0);
}

template <class Number> __device__ Number sum_of_mine(const Number* in, unsigned count) {
  Number sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += in[i];
  return sum;
}

template <class Number, int THREADS>
__device__ __forceinline__ void add_by_tree(const Number* in, Number* out, unsigned count) {
  __shared__ Number sums[THREADS];
  sums[threadIdx.x] = sum_of_mine(in, count);
  __syncthreads();
  add_halves<Number, THREADS>(sums, 0);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sums[0];
}

template <class Number, int THREADS>
__device__ __forceinline__ void add_by_tree_and_warp(const Number* in, Number* out, unsigned count) {
  __shared__ Number sums[THREADS];
  sums[threadIdx.x] = sum_of_mine(in, count);
  __syncthreads();
  add_halves<Number, THREADS>(sums, 32);
  if (threadIdx.x < 32)
    add_in_warp<Number>(sums);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sums[0];
}

template <class Number, int THREADS> __global__ void by_tree(const Number* in, Number* out, unsigned count) {
  add_by_tree<Number, THREADS>(in, out, count);
}

/// As by_tree, of the sums that it left.
template <class Number, int THREADS>
__global__ void rest_by_tree(const Number* in, Number* out, unsigned count) {
  add_by_tree<Number, THREADS>(in, out, count);
}

template <class Number, int THREADS>
__global__ void by_tree_and_warp(const Number* in, Number* out, unsigned count) {
  add_by_tree_and_warp<Number, THREADS>(in, out, count);
}

/// As by_tree_and_warp, of the sums that it left.
template <class Number, int THREADS>
__global__ void rest_by_tree_and_warp(const Number* in, Number* out, unsigned count) {
  add_by_tree_and_warp<Number, THREADS>(in, out, count);
}

template <class Number, int THREADS> __global__ void by_tree_and_atomic(const Number* in, Number* out) {
  __shared__ Number sums[THREADS];
  sums[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
  __syncthreads();
  add_halves<Number, THREADS>(sums, 0);
  if (threadIdx.x == 0)
    atomicAdd(out, sums[0]);
}

/// The last warp's sum is one by shuffles.
template <class Number, int THREADS>
__global__ void by_tree_shuffles_and_atomic(const Number* in, Number* out) {
  __shared__ Number sums[THREADS];
  sums[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
  __syncthreads();
  add_halves<Number, THREADS>(sums, 32);
  if (threadIdx.x < 32) {
    const Number sum = sum_of_warp(sums[threadIdx.x] + sums[threadIdx.x + 32]);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

template <class Number, int THREADS> __global__ void by_shuffles_and_atomic(const Number* in, Number* out) {
  const Number sum = sum_of_block<Number, THREADS>(in[blockIdx.x * THREADS + threadIdx.x]);
  if (threadIdx.x == 0)
    atomicAdd(out, sum);
}

/// A thread has a vector of four.
template <int THREADS> __global__ void of_vectors(const float4* in, float* out) {
  const float4 mine = in[blockIdx.x * THREADS + threadIdx.x];
  const float sum = sum_of_block<float, THREADS>(mine.x + mine.y + mine.z + mine.w);
  if (threadIdx.x == 0)
    atomicAdd(out, sum);
}

/// A thread has twelve neighbouring numbers, which it loads one by one.
template <int THREADS> __global__ void of_twelve(const int* in, int* out, unsigned count) {
  __shared__ int sums[THREADS];
  const unsigned first = (blockIdx.x * THREADS + threadIdx.x) * 12;
  int sum = 0;
#pragma unroll
  for (unsigned i = first; i < first + 12; ++i)
    if (i < count)
      sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  add_halves<int, THREADS>(sums, 32);
  if (threadIdx.x < 32) {
    sum = sum_of_warp(sums[threadIdx.x] + sums[threadIdx.x + 32]);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

__device__ int sum_of_three(const int4* in, unsigned count) {
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * 3;
  int sum = 0;
#pragma unroll
  for (unsigned i = first; i < first + 3; ++i) {
    if (i < count / 4) {
      const int4 vector = in[i];
      sum += vector.x + vector.y + vector.z + vector.w;
    }
  }
  return sum;
}

/// A thread has three neighbouring vectors of four.
template <int THREADS> __global__ void of_three_vectors(const int4* in, int* out, unsigned count) {
  __shared__ int sums[THREADS];
  sums[threadIdx.x] = sum_of_three(in, count);
  __syncthreads();
  add_halves<int, THREADS>(sums, 32);
  if (threadIdx.x < 32)
    add_in_warp<int>(sums);
  if (threadIdx.x == 0)
    atomicAdd(out, sums[0]);
}

/// Returns the sum of all lanes, by one instruction where there is one.
__device__ int reduced(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
  return sum_of_warp(value);
#endif
}

/// As of_three_vectors, and the last warp's sum is one instruction.
template <int THREADS> __global__ void of_three_vectors_reduced(const int4* in, int* out, unsigned count) {
  __shared__ int sums[THREADS];
  sums[threadIdx.x] = sum_of_three(in, count);
  __syncthreads();
  add_halves<int, THREADS>(sums, 32);
  if (threadIdx.x < 32) {
    const int sum = reduced(sums[threadIdx.x] + sums[threadIdx.x + 32]);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

int sum_floats(unsigned elements) {
  constexpr int threads = 256;
  const float* in = allocate<float>(elements);
  float* out = allocate<float>(elements / threads);
  const unsigned blocks = elements / threads;
  by_tree<float, threads><<<blocks, threads>>>(in, out, elements);
  by_tree_and_atomic<float, threads><<<blocks, threads>>>(in, out);
  by_shuffles_and_atomic<float, threads><<<blocks, threads>>>(in, out);
  of_vectors<threads><<<blocks / 4, threads>>>((const float4*)in, out);
  return finish();
}

int sum_integers(unsigned elements) {
  constexpr int threads = 512;
  const int* in = allocate<int>(elements);
  int* out = allocate<int>(elements / threads);
  int* total = allocate<int>(1);
  const unsigned blocks = elements / threads, by_twelve = (elements + threads * 12 - 1) / (threads * 12);
  by_tree<int, threads><<<blocks, threads>>>(in, out, elements);
  rest_by_tree<int, threads><<<1, threads>>>(out, total, blocks);
  by_tree_and_warp<int, threads><<<blocks, threads>>>(in, out, elements);
  rest_by_tree_and_warp<int, threads><<<1, threads>>>(out, total, blocks);
  by_tree_shuffles_and_atomic<int, threads><<<blocks, threads>>>(in, total);
  of_twelve<threads><<<by_twelve, threads>>>(in, total, elements);
  of_three_vectors<threads><<<by_twelve, threads>>>((const int4*)in, total, elements);
  of_three_vectors_reduced<threads><<<by_twelve, threads>>>((const int4*)in, total, elements);
  return finish();
}

int main(int count, char** values) {
  const unsigned elements = argument(count, values, 2, 1u << 25);
  return argument(count, values, 1, 0) == 0 ? sum_floats(elements) : sum_integers(elements);
}
