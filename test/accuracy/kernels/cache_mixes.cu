// Doubles that lie in the L2, read and written in mixes: stores alone, one load for each store, three loads for
// each.
//
// Usage: cache_mixes [COUNT] [THREADS]    2^26: times that each kernel writes an element; of a block, 1024
#include "program.h"

constexpr unsigned LENGTH = 516096; ///< elements of each array, 4 MiB

__device__ unsigned element() {
  return (blockIdx.x * blockDim.x + threadIdx.x) % LENGTH;
}

__global__ void fill(double* a) {
  a[element()] = 0.25;
}

__global__ void scale(double* a, const double* __restrict__ b) {
  const unsigned i = element();
  a[i] = b[i] * 1.5;
}

__global__ void multiply_and_add(double* a, const double* __restrict__ b, const double* __restrict__ c,
                                 const double* __restrict__ d) {
  const unsigned i = element();
  a[i] = b[i] * c[i] + d[i];
}

int main(int count, char** values) {
  const unsigned elements = argument(count, values, 1, 1u << 26);
  double *a = allocate<double>(LENGTH), *b = allocate<double>(LENGTH), *c = allocate<double>(LENGTH),
         *d = allocate<double>(LENGTH);
  const unsigned block = argument(count, values, 2, 1024);
  fill<<<elements / block, block>>>(a);
  scale<<<elements / block, block>>>(a, b);
  multiply_and_add<<<elements / block, block>>>(a, b, c, d);
  return finish();
}
