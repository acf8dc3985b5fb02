// Two passes of a network with many inputs and sixteen hidden units, by blocks of 16 × 16 threads: forward,
// to partial sums of the hidden units; and the adjustment of the weights.
//
// Usage: layers [INPUTS]    65536
#include "program.h"

constexpr int UNITS = 16;

/// Returns the place of a thread's weight: a row of weights per input, of which the first is the bias.
__device__ int place_of_weight() {
  return (UNITS + 1) * UNITS * blockIdx.y + (UNITS + 1) * threadIdx.y + threadIdx.x + 1 + (UNITS + 1);
}

/// Each block multiplies its sixteen inputs with their weights and adds them up by a tree; the weights are
/// overwritten by what the tree leaves.
__global__ void forward(const float* inputs, float* weights, float* partial_sums) {
  __shared__ float input[UNITS], products[UNITS][UNITS];
  const int tx = threadIdx.x, ty = threadIdx.y, place = place_of_weight();
  if (tx == 0)
    input[ty] = inputs[UNITS * blockIdx.y + ty + 1];
  __syncthreads();
  products[ty][tx] = weights[place];
  __syncthreads();
  products[ty][tx] = products[ty][tx] * input[ty];
  __syncthreads();
  for (int step = 1; step <= __log2f(UNITS); ++step) {
    const int width = __powf(2, step);
    if (ty % width == 0)
      products[ty][tx] = products[ty][tx] + products[ty + width / 2][tx];
    __syncthreads();
  }
  weights[place] = products[ty][tx];
  __syncthreads();
  if (tx == 0)
    partial_sums[blockIdx.y * UNITS + ty] = products[tx][ty];
}

__global__ void adjust(const float* delta, const float* inputs, float* weights, float* previous) {
  constexpr float rate = 0.3f, momentum = 0.3f;
  const int place = place_of_weight(), unit = threadIdx.x + 1, input = UNITS * blockIdx.y + threadIdx.y + 1;
  weights[place] += rate * delta[unit] * inputs[input] + momentum * previous[place];
  previous[place] = rate * delta[unit] * inputs[input] + momentum * previous[place];
  __syncthreads();
  if (threadIdx.y == 0 && blockIdx.y == 0) {
    weights[unit] += rate * delta[unit] + momentum * previous[unit];
    previous[unit] = rate * delta[unit] + momentum * previous[unit];
  }
}

int main(int count, char** values) {
  const std::size_t inputs = argument(count, values, 1, 65536), weights = (inputs + 1) * (UNITS + 1);
  const float* input = allocate<float>(inputs + 1);
  float *weight = allocate<float>(weights), *previous = allocate<float>(weights);
  float *sums = allocate<float>(inputs), *delta = allocate<float>(UNITS + 1);
  const dim3 grid(1, inputs / UNITS), block(UNITS, UNITS);
  forward<<<grid, block>>>(input, weight, sums);
  adjust<<<grid, block>>>(delta, input, weight, previous);
  return finish();
}
