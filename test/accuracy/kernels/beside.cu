// Kernels that run beside themselves: a copy of a set again and again, by all blocks together or of a part
// for each block, and chains of products in double precision.
//
// Usage: beside copy BLOCKS MIB LAPS | laps BLOCKS KIB LAPS | products CHAINS STEPS [BLOCKS THREADS]
#include "program.h"

#include <cstring>

__global__ void copy_again(const float* in, float* out, long elements, int laps) {
  const long threads = long(gridDim.x) * blockDim.x;
  for (int lap = 0; lap < laps; ++lap)
    for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < elements; i += threads)
      out[i] = in[i];
}

/// Each block copies its own part of the data again and again.
__global__ void copy_own(const float* in, float* out, int elements, int laps) {
  const long first = long(blockIdx.x) * elements;
  for (int lap = 0; lap < laps; ++lap)
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
      out[first + i] = in[first + i];
}

template <int chains> __global__ void products(double* out, double factor, int steps) {
  double values[chains];
  for (int chain = 0; chain < chains; ++chain)
    values[chain] = threadIdx.x + chain;
  for (int step = 0; step < steps; ++step)
    for (int chain = 0; chain < chains; ++chain)
      values[chain] *= factor;
  double sum = 0;
  for (int chain = 0; chain < chains; ++chain)
    sum += values[chain];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int count, char** values) {
  const char* const what = count > 1 ? values[1] : "copy";
  if (std::strcmp(what, "copy") == 0) {
    const int blocks = argument(count, values, 2, 40), laps = argument(count, values, 4, 4);
    const std::size_t elements = (argument(count, values, 3, 1) << 20) / sizeof(float);
    float *in = allocate<float>(elements), *out = allocate<float>(elements);
    copy_again<<<blocks, 1024>>>(in, out, elements, laps);
  } else if (std::strcmp(what, "laps") == 0) {
    const int blocks = argument(count, values, 2, 80), laps = argument(count, values, 4, 20);
    const std::size_t elements = (argument(count, values, 3, 16) << 10) / sizeof(float);
    float *in = allocate<float>(blocks * elements), *out = allocate<float>(blocks * elements);
    copy_own<<<blocks, 64>>>(in, out, elements, laps);
  } else {
    const int chains = argument(count, values, 2, 1), steps = argument(count, values, 3, 1000);
    const int blocks = argument(count, values, 4, 80), threads = argument(count, values, 5, 128);
    double* out = allocate<double>(blocks * threads);
    if (chains == 1)
      products<1><<<blocks, threads>>>(out, 1.000001, steps);
    else if (chains == 2)
      products<2><<<blocks, threads>>>(out, 1.000001, steps);
    else if (chains == 3)
      products<3><<<blocks, threads>>>(out, 1.000001, steps);
    else
      products<4><<<blocks, threads>>>(out, 1.000001, steps);
  }
  return finish();
}
