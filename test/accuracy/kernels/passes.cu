// An array that is copied into another one and back, again and again, past the L1.
//
// Usage: passes BLOCKS THREADS KIB [PASSES]    size of an array; 64
#include "program.h"

__global__ void copy_back_and_forth(volatile int* a, volatile int* b, int count, int passes) {
  for (int pass = 0; pass < passes; ++pass) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      if (pass % 2 == 0)
        b[i] = a[i];
      else
        a[i] = b[i];
    }
  }
}

int main(int count, char** values) {
  const unsigned blocks = argument(count, values, 1, 160), threads = argument(count, values, 2, 1024);
  const std::size_t words = argument(count, values, 3, 2048) * 1024 / sizeof(int);
  const unsigned passes = argument(count, values, 4, 64);
  volatile int *a = allocate<int>(words), *b = allocate<int>(words);
  copy_back_and_forth<<<blocks, threads>>>(a, b, words, passes);
  return finish();
}
