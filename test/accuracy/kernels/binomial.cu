// The value of an option by a binomial tree: a block per option, whose threads keep sixteen leaves each in
// registers and exchange their outermost ones by shared memory in each step towards the root.
//
// Usage: binomial [OPTIONS]    1024
#include "program.h"

constexpr int STEPS = 2048, THREADS = 128, EACH = STEPS / THREADS, MAX_OPTIONS = 1024;

struct Option {
  float price, strike, deviation, up, down;
};

__constant__ Option options[MAX_OPTIONS];
__device__ float option_values[MAX_OPTIONS];

__device__ float leaf(const Option& option, int i) {
  const float gain = option.price * __expf(option.deviation * (2.0f * i - STEPS)) - option.strike;
  return gain > 0 ? gain : 0;
}

__global__ void binomial() {
  __shared__ float outermost[THREADS + 1];
  const int t = threadIdx.x;
  const Option option = options[blockIdx.x];
  float value[EACH + 1];
#pragma unroll
  for (int i = 0; i < EACH; ++i)
    value[i] = leaf(option, t * EACH + i);
  if (t == 0)
    outermost[THREADS] = leaf(option, STEPS);
  const int last = max(0, t * EACH - 1); // the step below which the thread has nothing left
#pragma unroll 16
  for (int step = STEPS; step > 0; --step) {
    outermost[t] = value[0];
    __syncthreads();
    value[EACH] = outermost[t + 1];
    __syncthreads();
    if (step > last) {
#pragma unroll
      for (int i = 0; i < EACH; ++i)
        value[i] = option.up * value[i + 1] + option.down * value[i];
    }
  }
  if (t == 0)
    option_values[blockIdx.x] = value[0];
}

int main(int count, char** values) {
  const int wanted = argument(count, values, 1, MAX_OPTIONS);
  const std::vector<Option> all(wanted, Option{20, 25, 0.01f, 0.5f, 0.49f});
  cudaMemcpyToSymbol(options, all.data(), all.size() * sizeof(Option));
  binomial<<<wanted, THREADS>>>();
  return finish();
}
