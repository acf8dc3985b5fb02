// Sums of an array of doubles, of which each block makes one partial sum: in shared memory by several orders
// of the additions, as loops up to the size of the block, and by shuffles.
//
// Usage: reductions [ELEMENTS]    2^25
#include "program.h"

constexpr int THREADS = 256;

/// Adds neighbours first; in each step fewer threads of each warp have work.
__global__ void sum_of_neighbours(const double* in, double* out) {
  __shared__ double sums[THREADS];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
    if (t % (2 * apart) == 0)
      sums[t] += sums[t + apart];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = sums[0];
}

/// Adds neighbours first; the threads that have work are the first ones.
__global__ void sum_of_neighbours_packed(const double* in, double* out) {
  __shared__ double sums[THREADS];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
    const unsigned i = 2 * apart * t;
    if (i < blockDim.x)
      sums[i] += sums[i + apart];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = sums[0];
}

/// Adds the second half to the first one, until one element is left.
__global__ void sum_of_halves(const double* in, double* out) {
  __shared__ double sums[THREADS];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half)
      sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = sums[0];
}

/// Returns the warp's sum to its first lane.
__device__ double sum_of_warp(double value) {
  for (int apart = 16; apart > 0; apart /= 2)
    value += __shfl_down_sync(~0u, value, apart);
  return value;
}

__global__ void sum_by_shuffles(const double* in, double* out) {
  __shared__ double sums[THREADS / 32];
  const int t = threadIdx.x, first = blockIdx.x * 2 * THREADS + t;
  const double sum = sum_of_warp(in[first] + in[first + THREADS]);
  if (t % 32 == 0)
    sums[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    const double all = sum_of_warp(t < THREADS / 32 ? sums[t] : 0);
    if (t == 0)
      out[blockIdx.x] = all;
  }
}

int main(int count, char** values) {
  const std::size_t elements = argument(count, values, 1, 1u << 25);
  const double* in = allocate<double>(elements);
  double* out = allocate<double>(elements / THREADS);
  sum_of_neighbours<<<elements / THREADS, THREADS>>>(in, out);
  sum_of_neighbours_packed<<<elements / THREADS, THREADS>>>(in, out);
  sum_of_halves<<<elements / THREADS, THREADS>>>(in, out);
  sum_by_shuffles<<<elements / THREADS / 2, THREADS>>>(in, out);
  return finish();
}
