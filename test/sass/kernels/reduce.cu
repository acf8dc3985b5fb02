// A kernel for the tests of the code table: a loop, a barrier, shared memory, a function that is inlined and one
// that is called, a switch with a table of targets, an exit under a predicate.
__device__ __noinline__ float called(float x, int n) {
  for (int i = 0; i < n; ++i)
    x = sqrtf(x) * 0.5f;
  return x;
}

__device__ __forceinline__ float inlined(float x) {
  return x * x + 1.0f;
}

__global__ void reduce(float* out, const float* in, double* wide, int n) {
  __shared__ float part[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  part[threadIdx.x] = inlined(in[i]);
  __syncthreads();
  float x = part[127 - threadIdx.x];
  if (x > 3.0f)
    x = called(x, n);
  switch (n) {
  case 0: x += 1.0f; break;
  case 1: x *= 7.0f; break;
  case 2: wide[i] = wide[i] * 2.0 + 1.0; break;
  case 3: x = __sinf(x); break;
  case 4: atomicAdd(out, x); break;
  case 5: x = __shfl_xor_sync(0xffffffffu, x, 1); break;
  }
  out[i] = x;
}
