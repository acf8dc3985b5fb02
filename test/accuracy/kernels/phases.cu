// Kernels whose warps meet at a barrier after each phase, for the orders in which schedulers issue: with as
// much work for each warp, with an amount that a hash draws for each warp and phase, and with eight times as
// much for the first warp of a block or for its last one, as where one warp fetches or adds up what all of
// them wait for.
//
// Usage: phases
#include "program.h"

constexpr int threads = 512, blocks = 15 * 3 * 3; // three rounds of what a GTX 480 has room for
constexpr int count = blocks * threads, phases = 8, products = 24;

enum class Work { even, drawn, by_the_first, by_the_last };

__device__ unsigned hash(unsigned value) {
  value = (value ^ value >> 16) * 0x7feb352du;
  value = (value ^ value >> 15) * 0x846ca68bu;
  return value ^ value >> 16;
}

template <Work work> __device__ int steps_of(int warp, int phase) {
  constexpr int warps = threads / 32;
  switch (work) {
  case Work::even: return 2;
  case Work::drawn: return int(hash(unsigned(blockIdx.x * warps + warp) * 977u + unsigned(phase)) % 9);
  case Work::by_the_first: return warp == 0 ? 8 : 1;
  case Work::by_the_last: return warp == warps - 1 ? 8 : 1;
  }
}

/// A step loads where to load next, and multiplies.
template <Work work> __device__ void phases_of(const int* next, float* out) {
  const int thread = blockIdx.x * threads + threadIdx.x;
  int at = thread;
  float a = float(threadIdx.x), b = 1;
  for (int phase = 0; phase < phases; ++phase) {
    const int steps = steps_of<work>(threadIdx.x / 32, phase);
    for (int step = 0; step < steps; ++step) {
      at = next[at];
      for (int product = 0; product < products; ++product) {
        a = a * 1.01f + b;
        b = b * 1.02f + a;
      }
    }
    __syncthreads();
  }
  out[thread] = a + b + float(at);
}

__global__ void even(const int* next, float* out) {
  phases_of<Work::even>(next, out);
}
__global__ void drawn(const int* next, float* out) {
  phases_of<Work::drawn>(next, out);
}
__global__ void first_is_last(const int* next, float* out) {
  phases_of<Work::by_the_first>(next, out);
}
__global__ void last_is_last(const int* next, float* out) {
  phases_of<Work::by_the_last>(next, out);
}

int main() {
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i)
    order[i] = (i + 32 * 7919) % count; // the same lanes of a line far away
  const int* next = copy_of(order);
  float* out = allocate<float>(count);
  even<<<blocks, threads>>>(next, out);
  drawn<<<blocks, threads>>>(next, out);
  first_is_last<<<blocks, threads>>>(next, out);
  last_is_last<<<blocks, threads>>>(next, out);
  return finish();
}
