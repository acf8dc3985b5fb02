// Softmax of the rows of a matrix in two passes, the first of which keeps the largest element and the sum of
// the exponentials relative to it: a thread per row, or a block per row.
//
// Usage: softmax [COLUMNS]    the first of each row's 65536
#include "program.h"

constexpr int THREADS = 256;

/// The largest of some elements, and the sum of the exponentials of their distances from it.
struct Running {
  float largest, sum;
};

__device__ Running with_element(Running running, float element) {
  const float largest = fmaxf(running.largest, element);
  return {largest, running.sum * expf(running.largest - largest) + expf(element - largest)};
}

__global__ void softmax_by_threads(const float* in, float* out, std::size_t columns, std::size_t row_length) {
  const std::size_t row = blockIdx.x * blockDim.x + threadIdx.x;
  Running running = {in[row * row_length], 1};
  for (int i = 1; i < columns; ++i)
    running = with_element(running, in[row * row_length + i]);
  for (int i = 0; i < columns; ++i)
    out[row * row_length + i] = expf(in[row * row_length + i] - running.largest) / running.sum;
}

__global__ void softmax_by_blocks(const float* in, float* out, std::size_t columns, std::size_t row_length) {
  __shared__ float largest[THREADS], sums[THREADS];
  const int t = threadIdx.x;
  const std::size_t row = blockIdx.x * row_length;
  Running running = {in[row + t], 1};
  for (int i = t + THREADS; i < columns; i += THREADS)
    running = with_element(running, in[row + i]);
  largest[t] = running.largest;
  sums[t] = running.sum;
  __syncthreads();
  for (int left = THREADS; left > 1; left = (left + 1) / 2) {
    const int other = left - t - 1;
    if (other > t) {
      const float both = fmaxf(largest[t], largest[other]);
      sums[t] = sums[t] * expf(largest[t] - both) + sums[other] * expf(largest[other] - both);
      largest[t] = both;
    }
    __syncthreads();
  }
  for (int i = t; i < columns; i += THREADS)
    out[row + i] = expf(in[row + i] - largest[0]) / sums[0];
}

int main(int count, char** values) {
  constexpr std::size_t rows = 1024, row_length = 65536;
  const std::size_t columns = argument(count, values, 1, row_length);
  const float* in = allocate<float>(rows * row_length);
  float* out = allocate<float>(rows * row_length);
  softmax_by_threads<<<rows / THREADS, THREADS>>>(in, out, columns, row_length);
  softmax_by_blocks<<<rows, THREADS>>>(in, out, columns, row_length);
  return finish();
}
