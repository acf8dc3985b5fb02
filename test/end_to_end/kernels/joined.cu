// Components of vectors, which nvcc joins to one access if it can: joined_test.py compares the counted accesses, and
// their widths, with the PTX that nvcc makes of these kernels.
#include <cstdio>
#include <cuda_runtime.h>

struct alignas(16) Particle {
  float3 position;
  float mass;
};

__global__ void by_component(const float4* a, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 4; i++) {
    sum += a[t + i * 32].x;
    sum += a[t + i * 32].y;
    sum += a[t + i * 32].z;
    sum += a[t + i * 32].w;
  }
  out[t] = sum;
}

__global__ void copied(const int4* a, int4* out) {
  out[threadIdx.x].x = a[threadIdx.x].x;
  out[threadIdx.x].y = a[threadIdx.x].y;
  out[threadIdx.x].z = a[threadIdx.x].z;
  out[threadIdx.x].w = a[threadIdx.x].w;
}

__global__ void with_a_gap(const float4* a, float* out) { out[threadIdx.x] = a[threadIdx.x].x * a[threadIdx.x].w; }

__global__ void without_the_first(const float4* a, float* out) { out[threadIdx.x] = a[threadIdx.x].y * a[threadIdx.x].z; }

__global__ void three_stored(float4* out, float v) {
  out[threadIdx.x].x = v;
  out[threadIdx.x].y = v + 1;
  out[threadIdx.x].z = v + 2;
}

__global__ void updated(int2* a, int v) {
  a[threadIdx.x].x += v;
  a[threadIdx.x].y *= v;
}

__device__ float squared(const Particle& p) {
  return p.position.x * p.position.x + p.position.y * p.position.y + p.position.z * p.position.z;
}

__global__ void through_references(const Particle* a, float* out) {
  out[threadIdx.x] = squared(a[threadIdx.x]) * a[threadIdx.x + 1].mass;
}

__global__ void apart(const float4* a, float* out) {
  out[threadIdx.x] = a[threadIdx.x].x;
  out[threadIdx.x + 32] = a[threadIdx.x].y;
}

__global__ void loose(const float3* a, float* out) {
  out[threadIdx.x] = a[threadIdx.x].x + a[threadIdx.x].y + a[threadIdx.x].z;
}

__global__ void in_shared_memory(const float* a, float* out) {
  __shared__ float4 four[32];
  __shared__ __align__(16) float row[32];
  four[threadIdx.x].x = a[threadIdx.x];
  four[threadIdx.x].y = 1;
  four[threadIdx.x].z = 2;
  four[threadIdx.x].w = 3;
  row[threadIdx.x] = 4;
  __syncthreads();
  float sum = four[threadIdx.x ^ 1].z + four[threadIdx.x ^ 1].w;
  for (int i = 0; i < 8; ++i)
    sum += row[i];
  out[threadIdx.x] = sum;
}

__global__ void indices(const int4* at, const float* a, float* out) {
  out[threadIdx.x] = a[at[threadIdx.x].x] + a[at[threadIdx.x].y] + a[at[threadIdx.x].z] + a[at[threadIdx.x].w];
}

int main() {
  void *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 1 << 14);
  cudaMalloc(&out, 1 << 14);
  cudaMemset(in, 0, 1 << 14);
  const auto* vectors = static_cast<const float4*>(in);
  auto* floats = static_cast<float*>(out);
  by_component<<<1, 32>>>(vectors, floats);
  copied<<<1, 32>>>(static_cast<const int4*>(in), static_cast<int4*>(out));
  with_a_gap<<<1, 32>>>(vectors, floats);
  without_the_first<<<1, 32>>>(vectors, floats);
  three_stored<<<1, 32>>>(static_cast<float4*>(out), 1);
  updated<<<1, 32>>>(static_cast<int2*>(out), 2);
  through_references<<<1, 32>>>(static_cast<const Particle*>(in), floats);
  apart<<<1, 32>>>(vectors, floats);
  loose<<<1, 32>>>(static_cast<const float3*>(in), floats);
  in_shared_memory<<<1, 32>>>(static_cast<const float*>(in), floats);
  indices<<<1, 32>>>(static_cast<const int4*>(in), static_cast<const float*>(in), floats);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "right" : "wrong");
}
