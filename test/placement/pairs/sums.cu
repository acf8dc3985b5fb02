// Sums of an array of doubles, one partial sum for each block: steps of a well-known ladder of optimisations.
//
// Usage: sums VARIANT [ELEMENTS]    neighbours, packed, halves, two, last_warp_shuffled, last_warp, unrolled,
//                                   tuned or shuffled; 2^25
#include "../../accuracy/kernels/program.h"

/// Adds neighbours first; `PACKED`: the threads that have work are the first ones. The compiler does not know
/// the size of a block, as in what was measured: the loop stays one, and the remainder a division.
template <bool PACKED> __global__ void add_neighbours(const double* in, double* out) {
  __shared__ double sums[256];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  const int threads = blockDim.x;
  for (int apart = 1; apart < threads; apart *= 2) {
    const int i = PACKED ? 2 * apart * t : t;
    if (PACKED ? i < threads : t % (2 * apart) == 0)
      sums[i] += sums[i + apart];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = sums[0];
}

__device__ double sum_of_warp(double value) {
  for (int apart = 16; apart > 0; apart /= 2)
    value += __shfl_down_sync(~0u, value, apart);
  return value;
}

__device__ void fold_last_warp(volatile double* sums, int t) {
  for (int half = 32; half > 0; half /= 2) {
    double other = sums[t + half];
    __syncwarp();
    sums[t] += other;
    __syncwarp();
  }
}

enum class End { loop, shuffles, warp };

/// Adds the second half of a block's elements to the first one until one is left; each thread first adds
/// `EACH` elements.
template <int THREADS, int EACH, End END, bool UNROLLED>
__global__ void add_halves(const double* in, double* out) {
  __shared__ double sums[THREADS + 32];
  const int t = threadIdx.x, first = blockIdx.x * THREADS * EACH + t;
  double mine = in[first];
  for (int i = 1; i < EACH; ++i)
    mine += in[first + i * THREADS];
  sums[t] = mine;
  __syncthreads();
  constexpr int last = END == End::loop ? 0 : 32;
  if constexpr (UNROLLED) {
#pragma unroll
    for (int half = THREADS / 2; half > last; half /= 2) {
      if (t < half)
        sums[t] += sums[t + half];
      __syncthreads();
    }
  } else {
    for (int half = blockDim.x / 2; half > last; half /= 2) {
      if (t < half)
        sums[t] += sums[t + half];
      __syncthreads();
    }
  }
  if (END == End::warp && t < 32)
    fold_last_warp(sums, t);
  if (END == End::shuffles && t < 32)
    sums[t] = sum_of_warp(sums[t] + sums[t + 32]);
  if (t == 0)
    out[blockIdx.x] = sums[0];
}

/// Sums by shuffles within warps, then of the warps' sums.
__global__ void add_by_shuffles(const double* in, double* out) {
  __shared__ double sums[8];
  const int t = threadIdx.x, first = blockIdx.x * 512 + t;
  const double sum = sum_of_warp(in[first] + in[first + 256]);
  if (t % 32 == 0)
    sums[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    const double all = sum_of_warp(t < 8 ? sums[t] : 0);
    if (t == 0)
      out[blockIdx.x] = all;
  }
}

int main(int count, char** values) {
  const char* variant = count > 1 ? values[1] : "neighbours";
  const std::size_t elements = argument(count, values, 2, 1u << 25);
  const double* in = allocate<double>(elements);
  double* out = allocate<double>(elements / 128);
  const auto is = [&](const char* name) { return std::strcmp(variant, name) == 0; };
  if (is("neighbours"))
    add_neighbours<false><<<elements / 256, 256>>>(in, out);
  else if (is("packed"))
    add_neighbours<true><<<elements / 256, 256>>>(in, out);
  else if (is("halves"))
    add_halves<256, 1, End::loop, false><<<elements / 256, 256>>>(in, out);
  else if (is("two"))
    add_halves<128, 2, End::loop, false><<<elements / 256, 128>>>(in, out);
  else if (is("last_warp_shuffled"))
    add_halves<128, 2, End::shuffles, false><<<elements / 256, 128>>>(in, out);
  else if (is("last_warp"))
    add_halves<128, 2, End::warp, false><<<elements / 256, 128>>>(in, out);
  else if (is("unrolled"))
    add_halves<128, 2, End::warp, true><<<elements / 256, 128>>>(in, out);
  else if (is("tuned"))
    add_halves<256, 2, End::warp, true><<<elements / 512, 256>>>(in, out);
  else if (is("shuffled"))
    add_by_shuffles<<<elements / 512, 256>>>(in, out);
  else
    return 2;
  return finish();
}
