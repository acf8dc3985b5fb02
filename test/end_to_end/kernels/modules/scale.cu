// Kernels of a module without a program: tests compile them to a cubin, PTX and a fatbin.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Shift {
  short by;
  char sign;
};

__global__ void scale(float* x, int n, double factor, Shift shift, half addend) {
  __shared__ float part[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n)
    x[i] = part[threadIdx.x] * float(factor) + float(shift.by * shift.sign) + float(addend);
}

/// Sums what each way of filling has made; the last buffer is the first one.
extern "C" __global__ void __launch_bounds__(128) gather(unsigned long long* sums, const __nv_bfloat16* ones, const short* iota,
                                                         const unsigned char* random, const float* fractions,
                                                         const unsigned long long* same, unsigned count) {
  extern __shared__ unsigned counts[];
  if (threadIdx.x == 0)
    counts[0] = counts[1] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    atomicAdd(&sums[0], static_cast<unsigned long long>(float(ones[i])));
    atomicAdd(&sums[1], static_cast<unsigned long long>(iota[i]));
    atomicAdd(&counts[0], random[i] >= 10 && random[i] < 20);
    atomicAdd(&counts[1], fractions[i] >= -1 && fractions[i] < 0);
  }
  __syncthreads();
  if (threadIdx.x < 2)
    sums[2 + threadIdx.x] = counts[threadIdx.x];
  if (threadIdx.x == 2)
    sums[4] = same == sums;
}
