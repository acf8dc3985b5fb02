// Streams of doubles by blocks of several sizes, of which shared memory lets few run on an SM: what latency,
// the turnover of blocks and the bytes on their way make of the memory's rate.
//
// Usage: occupancy SHARED THREADS [ELEMENTS]    bytes of shared memory and threads of a block; 2^24
#include "program.h"

/// Nothing of it is used: it keeps blocks from an SM.
extern __shared__ double room[];

__global__ void fill(double* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 0.25;
}

/// Stores nothing: memory has no such number.
__global__ void read(const double* in, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double value = in[i];
  if (value == 123)
    out[i] = value;
}

__global__ void scale(const double* in, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 1.5;
}

int main(int count, char** values) {
  const std::size_t shared = argument(count, values, 1, 0), threads = argument(count, values, 2, 256);
  const std::size_t elements = argument(count, values, 3, 1u << 24);
  const double* in = allocate<double>(elements);
  double* out = allocate<double>(elements);
  cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
  cudaFuncSetAttribute(read, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
  cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared));
  fill<<<elements / threads, threads, shared>>>(out);
  read<<<elements / threads, threads, shared>>>(in, out);
  scale<<<elements / threads, threads, shared>>>(in, out);
  return finish();
}
