#include "kernels.cuh"

#include <cooperative_groups.h>
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/transform.h>

#define LAUNCH(kernel, ...) kernel<<<1, 32>>>(__VA_ARGS__)

template __global__ void fill<double>(double*, double, int);

extern "C" __global__ void plain_name(float* a) { a[threadIdx.x] += 1; }

namespace {
struct Hidden {};
__global__ void anonymous(float* a) { a[threadIdx.x] *= 2; }
} // namespace

template <void (*Kernel)(float*)> void launch(float* a) { Kernel<<<1, 32>>>(a); }
template <class T> __global__ void with_type(float* a) { a[threadIdx.x] += sizeof(T); }

template <class F> __global__ void apply(float* a, F f) { a[threadIdx.x] = f(a[threadIdx.x]); }

__global__ void __launch_bounds__(1024, 2) bounded(float* a) { a[threadIdx.x] = -a[threadIdx.x]; }

__global__ void cooperative(float* a) {
  cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  a[block.thread_rank()] += 1;
  block.sync();
}

__global__ void textured(float* a, cudaTextureObject_t texture) { a[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x); }

__global__ void scaled(float* a, const float* factor) { a[threadIdx.x] = scale_by(factor, a[threadIdx.x]); }

__global__ void summed(const float* a, float* out) {
  using Reduce = cub::BlockReduce<float, 32>;
  __shared__ typename Reduce::TempStorage storage;
  const float sum = Reduce(storage).Sum(a[threadIdx.x]);
  if (threadIdx.x == 0)
    *out = sum;
}

void launch_here(float* a);

int main() {
  float* a = nullptr;
  if (cudaMalloc(&a, 1024) != cudaSuccess) {
    std::printf("%s\n", "no GPU");
    return 0;
  }
  LAUNCH(fill, a, 1.f, 32);
  LAUNCH(plain_name, a);
  launch<anonymous>(a);
  with_type<Hidden><<<1, 32>>>(a);
  apply<<<1, 32>>>(a, [] __device__(float x) { return x + 3; });
  bounded<<<1, 32>>>(a);
  void* arguments[] = {&a};
  cudaLaunchCooperativeKernel(cooperative, 1, 32, arguments, 0, nullptr);
  textured<<<1, 32>>>(a, 0);
  scaled<<<1, 32>>>(a, a);
  summed<<<1, 32>>>(a, a);
  launch_here(a);
  thrust::device_vector<float> v(32, 1.f);
  thrust::transform(v.begin(), v.end(), v.begin(), thrust::negate<float>());
  return cudaDeviceSynchronize();
}
