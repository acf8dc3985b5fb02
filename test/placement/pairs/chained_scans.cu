// Inclusive sums of an array of integers in one pass: each tile adds what lies before it, which it has from
// the tiles before. `chained` waits for the one before; the others add up what the tiles before have
// published, by a thread or by a warp, backwards until one knows all that lies before it.
//
// Usage: chained_scans VARIANT [ELEMENTS]    chained, thread, warp, or the int4 of a thread: 1, 2, 3; 2^26
#include "../../accuracy/kernels/program.h"

constexpr int THREADS = 512;
constexpr unsigned all_lanes = ~0u;

/// What a tile publishes: nothing yet, its own sum, or the sum of all elements up to its last one.
enum Known : int { nothing, own, everything };
using Published = unsigned long long;
__device__ Published published(int sum, Known known) {
  return Published(known) << 32 | unsigned(sum);
}
__device__ int sum_of(Published one) {
  return int(one);
}
__device__ Known known_of(Published one) {
  return Known(one >> 32);
}

__device__ int scan_of_warp(int value) {
  for (int apart = 1; apart < 32; apart *= 2) {
    const int before = __shfl_up_sync(all_lanes, value, apart);
    value += threadIdx.x % 32 >= apart ? before : 0;
  }
  return value;
}

/// Returns the sum of the values of the block's threads up to this one.
__device__ int scan_of_block(int value) {
  __shared__ int of_warps[THREADS / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = scan_of_warp(value);
  if (lane == 31)
    of_warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const int all = scan_of_warp(lane < THREADS / 32 ? of_warps[lane] : 0);
    if (lane < THREADS / 32)
      of_warps[lane] = all;
  }
  __syncthreads();
  return value + (warp > 0 ? of_warps[warp - 1] : 0);
}

/// Returns the block's tile: those that begin first have the first ones.
__device__ int next_tile(int* counter) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = atomicAdd(counter, 1);
  __syncthreads();
  return tile;
}

__device__ Published wait_for(Published* of_tile) {
  Published one;
  do
    one = atomicAdd(of_tile, 0ull);
  while (known_of(one) == nothing);
  return one;
}

__global__ void scan_chained(const int* __restrict__ in, int* __restrict__ out, int* sums, int* flags,
                             int* counter) {
  __shared__ int before;
  const int tile = next_tile(counter), i = tile * THREADS + int(threadIdx.x);
  const int value = scan_of_block(in[i]);
  if (threadIdx.x == THREADS - 1) {
    int sum = 0;
    if (tile > 0) {
      while (atomicAdd(&flags[tile - 1], 0) == 0) {
      }
      sum = sums[tile - 1];
    }
    before = sum;
    sums[tile] = sum + value;
    __threadfence();
    atomicExch(&flags[tile], 1);
  }
  __syncthreads();
  out[i] = before + value;
}

/// Publishes the sum of a tile, from its last thread, and returns what one thread finds to lie before it.
__device__ int look_back_alone(Published* tiles, int tile, int sum) {
  atomicExch(&tiles[tile], published(sum, tile == 0 ? everything : own));
  __threadfence();
  int before = 0;
  for (int other = tile - 1; other >= 0; --other) {
    const Published one = wait_for(&tiles[other]);
    before += sum_of(one);
    if (known_of(one) == everything)
      break;
  }
  if (tile > 0) {
    atomicExch(&tiles[tile], published(before + sum, everything));
    __threadfence();
  }
  return before;
}

/// Does the same by the lanes of a warp, each for another tile; returns it to all of them.
__device__ int look_back_together(Published* tiles, int tile, int sum) {
  const int lane = threadIdx.x % 32;
  if (lane == 31) {
    atomicExch(&tiles[tile], published(sum, tile == 0 ? everything : own));
    __threadfence();
  }
  __syncwarp();
  if (tile == 0)
    return 0;
  int before = 0;
  for (int last = tile - 1;; last -= 32) {
    const Published one = last - lane >= 0 ? wait_for(&tiles[last - lane]) : published(0, everything);
    const unsigned ends = __ballot_sync(all_lanes, known_of(one) == everything);
    const int end = ends == 0 ? 31 : __ffs(int(ends)) - 1;
    const int up_to = scan_of_warp(lane <= end ? sum_of(one) : 0);
    before += __shfl_sync(all_lanes, up_to, end);
    if (ends != 0)
      break;
  }
  if (lane == 31) {
    atomicExch(&tiles[tile], published(before + sum, everything));
    __threadfence();
  }
  return before;
}

template <bool ALONE>
__global__ void scan_looking_back(const int* __restrict__ in, int* __restrict__ out, Published* tiles,
                                  int* counter) {
  __shared__ int before;
  const int tile = next_tile(counter), i = tile * THREADS + int(threadIdx.x);
  const int value = scan_of_block(in[i]);
  if (ALONE && threadIdx.x == THREADS - 1)
    before = look_back_alone(tiles, tile, value);
  if (!ALONE && threadIdx.x / 32 == THREADS / 32 - 1) {
    const int found = look_back_together(tiles, tile, __shfl_sync(all_lanes, value, 31));
    if (threadIdx.x % 32 == 0)
      before = found;
  }
  __syncthreads();
  out[i] = before + value;
}

/// A tile is `EACH` int4 of each thread, which are THREADS apart.
template <int EACH>
__global__ void scan_vectors(const int4* __restrict__ in, int4* __restrict__ out, Published* tiles,
                             int* counter) {
  __shared__ int before;
  const int tile = next_tile(counter), first = tile * THREADS * EACH + int(threadIdx.x);
  int4 values[EACH];
  int sum = 0;
#pragma unroll
  for (int k = 0; k < EACH; ++k)
    values[k] = in[first + k * THREADS];
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    values[k].x += sum;
    values[k].y += values[k].x;
    values[k].z += values[k].y;
    values[k].w += values[k].z;
    sum = values[k].w;
  }
  const int up_to = scan_of_block(sum);
  if (threadIdx.x / 32 == THREADS / 32 - 1) {
    const int found = look_back_together(tiles, tile, __shfl_sync(all_lanes, up_to, 31));
    if (threadIdx.x % 32 == 0)
      before = found;
  }
  __syncthreads();
  const int all_before = before + up_to - sum;
#pragma unroll
  for (int k = 0; k < EACH; ++k)
    out[first + k * THREADS] = {values[k].x + all_before, values[k].y + all_before, values[k].z + all_before,
                                values[k].w + all_before};
}

int main(int count, char** values) {
  const char* variant = count > 1 ? values[1] : "chained";
  const std::size_t elements = argument(count, values, 2, 1u << 26), tiles = elements / THREADS;
  const auto is = [&](const char* name) { return std::strcmp(variant, name) == 0; };
  const int* in = allocate<int>(elements);
  int* out = allocate<int>(elements);
  auto* const published = allocate<Published>(tiles + 1);
  cudaMemset(published, 0, (tiles + 1) * sizeof(Published));
  auto* const counter = reinterpret_cast<int*>(published + tiles);
  const auto* four_in = reinterpret_cast<const int4*>(in);
  auto* four_out = reinterpret_cast<int4*>(out);
  if (is("chained")) {
    auto* const sums = reinterpret_cast<int*>(published);
    scan_chained<<<tiles, THREADS>>>(in, out, sums, sums + tiles, counter);
  } else if (is("thread")) {
    scan_looking_back<true><<<tiles, THREADS>>>(in, out, published, counter);
  } else if (is("warp")) {
    scan_looking_back<false><<<tiles, THREADS>>>(in, out, published, counter);
  } else if (is("1")) {
    scan_vectors<1><<<tiles / 4, THREADS>>>(four_in, four_out, published, counter);
  } else if (is("2")) {
    scan_vectors<2><<<tiles / 8, THREADS>>>(four_in, four_out, published, counter);
  } else if (is("3")) {
    scan_vectors<3><<<tiles / 12, THREADS>>>(four_in, four_out, published, counter);
  } else {
    return 2;
  }
  return finish();
}
