// A second module with a channel of its own.
#include <warplens/probe.h>

__global__ void clear(int* values) {
  ::warplens::KernelScope warplens_scope;
  (*::warplens::store(21, &(values[threadIdx.x]))) = 0;
}

void launch_clear(int* values) { clear<<<1, 32>>>(values); }
