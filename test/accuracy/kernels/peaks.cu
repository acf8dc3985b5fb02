// These kernels take as much as memories give: blocks that stay on their SM read, write or copy vectors of an
// array, or read shared memory.
//
// Usage: peaks BLOCKS THREADS KIB [PASSES]    size of the array; how often it is read, 1
#include "program.h"

constexpr int SHARED_STEPS = 1024;

/// Four loads of a thread are on their way at a time, past the L1. Memory has no such number as would be
/// stored.
__global__ void read(const uint4* in, unsigned* out, unsigned count, int passes) {
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned seen = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 4 * stride) {
      uint4 vectors[4] = {};
#pragma unroll
      for (unsigned k = 0; k < 4; ++k)
        if (i + k * stride < count)
          vectors[k] = __ldcg(in + i + k * stride);
#pragma unroll
      for (const uint4 vector : vectors)
        seen |= vector.x ^ vector.y ^ vector.z ^ vector.w;
    }
  if (seen == 0x12345678)
    *out = seen;
}

__global__ void write(uint4* out, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = {1, 2, 3, 4};
}

/// Two vectors of a thread are on their way at a time.
__global__ void copy(const uint4* in, uint4* out, unsigned count) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i + stride < count; i += 2 * stride) {
    const uint4 first = __ldcs(in + i), second = __ldcs(in + i + stride);
    out[i] = first;
    out[i + stride] = second;
  }
}

__global__ void read_shared(unsigned* out) {
  __shared__ uint4 vectors[1024];
  vectors[threadIdx.x] = {threadIdx.x, 0, 0, 0};
  __syncthreads();
  const volatile uint4* place = vectors + threadIdx.x;
  unsigned seen = 0;
#pragma unroll 8
  for (int i = 0; i < SHARED_STEPS; ++i) {
    unsigned x, y, z, w;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "r"(address_of((const void*)place)));
    seen |= x ^ y ^ z ^ w;
  }
  if (seen == 0x12345678)
    *out = seen;
}

int main(int count, char** values) {
  const unsigned blocks = argument(count, values, 1, 340), threads = argument(count, values, 2, 512);
  const std::size_t bytes = argument(count, values, 3, 1 << 20) * 1024, vectors = bytes / sizeof(uint4);
  const unsigned passes = argument(count, values, 4, 1);
  uint4 *in = allocate<uint4>(vectors), *out = allocate<uint4>(vectors);
  read<<<blocks, threads>>>(in, (unsigned*)out, vectors, passes);
  write<<<blocks, threads>>>(out, vectors);
  copy<<<blocks, threads>>>(in, out, vectors);
  read_shared<<<blocks, threads>>>((unsigned*)out);
  return finish();
}
