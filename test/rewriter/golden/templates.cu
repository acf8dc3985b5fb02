#ifndef __CUDA_ARCH__
#include "headers/host.h"
#endif
#include "headers/matrix.h"
#include "headers/through.h"
#if __has_include("headers/host.h") && defined(__CUDA_ARCH__)
#define SEEN 1
#endif

template <class T, int N> __global__ void fill(T* out, const T* in) {
  __shared__ T tile[N];
  if constexpr (sizeof(T) == 4)
    tile[threadIdx.x] = in[threadIdx.x];
  else
    tile[threadIdx.x] = in[0];
  T copy = tile[0];
  out[threadIdx.x] = copy;
}
template <class T> struct Functor {
  T* data;
  T scale;
  __device__ T operator()(int i) const { return data[i] * scale; }
};
template <class F> __global__ void apply(F f, float* out) { out[threadIdx.x] = f(threadIdx.x); }

__global__ void per_architecture(float* out) {
#if __CUDA_ARCH__ >= 800
  out[0] = 8;
#else
  out[1] = 7;
#endif
}
template <class T> __device__ T never_used(T* p) { return p[0]; }
__global__ void matrices(Matrix<float> m, float* out) {
  m.at(0, 1) = m.at(1, 0);
  Small<float, 3> kept;
  kept[0] = m.trace();
  out[0] = kept[0] + through(out);
}
struct Counting {
  __host__ __device__ int operator[](int i) const { return i; }
};
template <class In> __global__ void gather(In in, float* out) { out[in[threadIdx.x]] = 1; }
int main() {
  gather<<<1, 32>>>(Counting{}, nullptr);
  gather<<<1, 32>>>((const int*)nullptr, nullptr);
  fill<float, 32><<<1, 32>>>(nullptr, nullptr);
  fill<float4, 32><<<1, 32>>>(nullptr, nullptr);
  apply<<<1, 1>>>(Functor<float>{nullptr, 2.f}, nullptr);
  matrices<<<1, 1>>>({}, nullptr);
}
