// This header is included by several files.
#pragma once
template <class T> __global__ void fill(T* out, T value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = value;
}
static __global__ void copy(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x]; }
extern __device__ float scale_by(const float* factor, float value);
