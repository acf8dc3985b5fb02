// Merge sort of 32-bit numbers: each block sorts a tile in shared memory, then sorted runs are merged in
// global memory, twice as long from launch to launch. An element's place in the merged run is its place in
// its own run and the number of elements of the other run before it, which it finds by bisection.
#include "program.h"

#include <algorithm>

constexpr unsigned tile = 512; // one element a thread

// Returns the number of sorted elements before `key`: those less than it and, if `ties`, those equal to it.
template <class Elements>
__device__ unsigned rank_of(unsigned key, Elements elements, unsigned count, bool ties) {
  unsigned first = 0;
  while (count > 0) {
    const unsigned half = count / 2;
    const unsigned other = elements[first + half];
    if (other < key || (ties && other == key)) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

__global__ void merge_shared(const unsigned* in, unsigned* out) {
  __shared__ unsigned elements[tile];
  const unsigned place = blockIdx.x * tile + threadIdx.x;
  elements[threadIdx.x] = in[place];
  __syncthreads();
  for (unsigned run = 1; run < tile; run *= 2) {
    const unsigned key = elements[threadIdx.x];
    const unsigned pair = threadIdx.x & ~(2 * run - 1);
    const bool second = (threadIdx.x & run) != 0;
    const unsigned* const other = &elements[second ? pair : pair + run];
    const unsigned target = pair + (threadIdx.x & (run - 1)) + rank_of(key, other, run, second);
    __syncthreads();
    elements[target] = key;
    __syncthreads();
  }
  out[place] = elements[threadIdx.x];
}

__global__ void merge_global(unsigned run, const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned key = in[i];
  const unsigned pair = i & ~(2 * run - 1);
  const bool second = (i & run) != 0;
  const unsigned* const other = &in[second ? pair : pair + run];
  out[pair + (i & (run - 1)) + rank_of(key, other, run, second)] = key;
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, tile, 1 << 24);
  const unsigned size = program.size();
  reference::Random random(6);
  std::vector<unsigned> numbers(size);
  for (unsigned& number : numbers)
    number = random.below(size);
  const reference::Array<unsigned> first(numbers), second(size);

  program.measure("merge_shared", [&] { merge_shared<<<size / tile, tile>>>(first.data(), second.data()); });
  auto expected = numbers;
  for (unsigned begin = 0; begin < size; begin += tile)
    std::sort(expected.begin() + begin, expected.begin() + begin + tile);
  program.judge("merge_shared", second.values() == expected);

  unsigned *in = second.data(), *out = first.data();
  for (unsigned run = tile; run < size; run *= 2) {
    const auto launch = [&] { merge_global<<<size / 256, 256>>>(run, in, out); };
    if (run == tile)
      program.measure("merge_global", launch);
    else
      program.run("merge_global", launch);
    std::swap(in, out);
  }
  std::sort(expected.begin(), expected.end());
  program.judge("merge_global", (in == first.data() ? first.values() : second.values()) == expected);
  return program.exit_code();
}
