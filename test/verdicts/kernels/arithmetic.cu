// Kernels that arithmetic bounds, or its latency.
#include "kernels.h"

// says /bound by +(FP32 pipe|instruction issue)/: four chains of products and sums for each thread
// says /fewer or cheaper instructions would help|fewer or cheaper/: memory has nothing to do with it
// says /TFLOP\/s/: the rate is what its author compares
// never /streaming|What to look at first\n.*memory/: it hardly accesses memory
__global__ void single_precision(float* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i, b = i + 1, c = i + 2, d = i + 3;
  for (int step = 0; step < steps; ++step) {
    a = a * 0.999f + 0.5f;
    b = b * 0.999f + 0.5f;
    c = c * 0.999f + 0.5f;
    d = d * 0.999f + 0.5f;
  }
  out[i] = a + b + c + d;
}

// says /bound by +FP64 pipe/: half as many lanes as of single precision
// says /FLOP in fp64/: these are counted by precision
__global__ void double_precision(double* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double a = i, b = i + 1;
  for (int step = 0; step < steps; ++step) {
    a = a * 0.999 + 0.5;
    b = b * 0.999 + 0.5;
  }
  out[i] = a + b;
}

// says /bound by +special function pipe/: 16 lanes of an SM
// never /DRAM, |streaming/: it hardly accesses memory
__global__ void special_functions(float* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i, b = i + 1;
  for (int step = 0; step < steps; ++step) {
    a = __sinf(a);
    b = __sinf(b);
  }
  out[i] = a + b;
}

// says /few warps: the grid has 1\.00 for each SM/: a warp for each SM cannot hide the latency of a chain
// says /exposed latency: warps wait .*for the instruction before/: each product needs the one before
// never /nothing to mend|streaming/: the pipes are idle most of the time
__global__ void one_chain(float* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i;
  for (int step = 0; step < steps; ++step)
    a = a * 0.999f + 0.5f;
  out[i] = a;
}

int main() {
  float* out = zeros<float>(1 << 20);
  single_precision<<<1024, 256>>>(out, 512);
  double_precision<<<1024, 256>>>((double*)out, 256);
  special_functions<<<1024, 256>>>(out, 256);
  one_chain<<<108, 32>>>(out, 4096);
  DONE();
}
