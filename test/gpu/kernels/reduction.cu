// The sum of many numbers: a grid-stride loop, shuffles within a warp, shared memory within a block.
#include "program.h"

constexpr unsigned threads = 256, blocks = 1056, lanes = 32;

__global__ void reduction(unsigned count, const unsigned* numbers, unsigned long long* sums) {
  __shared__ unsigned long long warp_sums[threads / lanes];
  unsigned long long sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    sum += numbers[i];
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % lanes == 0)
    warp_sums[threadIdx.x / lanes] = sum;
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  sum = 0;
  for (unsigned warp = 0; warp < threads / lanes; ++warp)
    sum += warp_sums[warp];
  sums[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, 1024, 1 << 28, true);
  const unsigned count = program.size();
  reference::Random random(10);
  std::vector<unsigned> numbers(count);
  unsigned long long expected = 0;
  for (unsigned& number : numbers)
    expected += number = random.below(0xffffffffu);
  const reference::Array<unsigned> device_numbers(numbers);
  const reference::Array<unsigned long long> sums(blocks);

  program.measure("reduction",
                  [&] { reduction<<<blocks, threads>>>(count, device_numbers.data(), sums.data()); });

  unsigned long long total = 0;
  for (const unsigned long long sum : sums.values())
    total += sum;
  program.judge("reduction", total == expected);
  return program.exit_code();
}
