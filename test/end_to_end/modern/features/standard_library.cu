// flags: -arch=sm_80 -std=c++20 --expt-relaxed-constexpr --extended-lambda
// gpu: a100
// libcu++ on the device: atomics, semaphores, latches, spans; C++20; integers of 128 bits; extended lambdas; Thrust and CUB.
#include "../expect.h"
#include <algorithm>
#include <concepts>
#include <new>
#include <numeric>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
template <class T> concept Number = std::is_arithmetic_v<T>;
template <Number T> __device__ constexpr T twice(T x) { return x * 2; }
struct Visitor { __device__ int operator()(int x) const { return x; } __device__ int operator()(float x) const { return int(x * 10); } };
__device__ cuda::binary_semaphore<cuda::thread_scope_device> lock{1};
__device__ int guarded;
__global__ void library(int* out, int* counter, float* matrix) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ref(*counter);
  ref.fetch_add(2, cuda::memory_order_relaxed); ref.fetch_max(7);
  cuda::std::span<int> span(out, 128);
  cuda::std::mdspan<float, cuda::std::extents<int, 4, cuda::std::dynamic_extent>> m(matrix, 8);
  if (threadIdx.x < 32) m(threadIdx.x / 8, threadIdx.x % 8) = threadIdx.x * 0.5f;
  cuda::std::variant<int, float> v; if (threadIdx.x % 2) v = 2.5f; else v = 3;
  cuda::std::optional<int> o; if (threadIdx.x > 5) o = 4;
  auto [a, b] = cuda::std::tuple{1, 2};
  cuda::std::array<int, 3> x{1, 2, 3};
  using Latch = cuda::latch<cuda::thread_scope_block>;
  __shared__ alignas(Latch) char storage[sizeof(Latch)];
  Latch& latch = *reinterpret_cast<Latch*>(storage);
  if (threadIdx.x == 0) new (storage) Latch(blockDim.x);
  __syncthreads();
  latch.arrive_and_wait();
  span[threadIdx.x] = cuda::std::visit(Visitor(), v) + o.value_or(100) + a + b + x[2] + twice(3);
  if (threadIdx.x % 32 == 0) { lock.acquire(); guarded += 1; lock.release(); }
}
__global__ void wide(unsigned __int128* x, double* d) { const auto v = x[threadIdx.x]; x[threadIdx.x] = v * v / 3 + (v << 70) % 1000007; d[threadIdx.x] = double(v); }
template <class F> __global__ void apply(int* out, F f) { out[threadIdx.x] = f(threadIdx.x); }
__global__ void labels(const int* in, int* out) {
  int x = in[threadIdx.x], steps;
  asm volatile("{\n .reg .pred p, q; .reg .u32 v, s, t;\n mov.u32 v, %1; mov.u32 s, 0;\n$again_%=:\n setp.le.u32 p, v, 1;\n @p bra $done_%=;\n and.b32 t, v, 1; setp.ne.u32 q, t, 0;\n shr.u32 t, v, 1; @q mad.lo.u32 t, v, 3, 1; mov.u32 v, t; add.u32 s, s, 1;\n bra $again_%=;\n$done_%=:\n mov.u32 %0, s;\n}" : "=r"(steps) : "r"(x));
  out[threadIdx.x] = steps;
}
int main() {
  int *out, *counter; float* m; cudaMalloc(&out, 512); cudaMalloc(&counter, 4); cudaMemset(counter, 0, 4); cudaMalloc(&m, 128);
  library<<<1, 128>>>(out, counter, m); EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  auto r = host(out, 128); int bad = 0; for (int i = 0; i < 128; ++i) bad += r[i] != (i % 2 ? 25 : 3) + (i > 5 ? 4 : 100) + 3 + 3 + 6; EXPECT(bad == 0);
  EXPECT(host(counter, 1)[0] >= 256); EXPECT(host(m, 32)[31] == 15.5f); int g; cudaMemcpyFromSymbol(&g, guarded, 4); EXPECT(g == 4);
  std::vector<unsigned __int128> w(32), want(32); for (int i = 0; i < 32; ++i) { w[i] = (unsigned __int128)(0x123456789abcdefull * (i + 1)) << (i % 40); want[i] = w[i] * w[i] / 3 + (w[i] << 70) % 1000007; }
  auto* dw = device(w); double* dd; cudaMalloc(&dd, 256); wide<<<1, 32>>>(dw, dd); EXPECT(host(dw, 32) == want); EXPECT(host(dd, 32)[5] == double(w[5]));
  const int scale = 3; apply<<<1, 128>>>(out, [=] __device__(int x) { return x * scale; }); EXPECT(host(out, 128)[100] == 300);
  apply<<<1, 128>>>(out, [=] __host__ __device__(int x) { return x + scale; }); EXPECT(host(out, 128)[100] == 103);
  std::vector<int> n(64); for (int i = 0; i < 64; ++i) n[i] = i + 1; labels<<<1, 64>>>(device(n), out); r = host(out, 64); EXPECT(r[26] == 111 && r[6] == 16);
  std::vector<int> v(5000); for (int i = 0; i < 5000; ++i) v[i] = i * 7919 % 5003;
  thrust::device_vector<int> t(v); thrust::sort(t.begin(), t.end(), thrust::greater<int>()); EXPECT(t[0] > t[1] && thrust::is_sorted(t.begin(), t.end(), thrust::greater<int>()));
  EXPECT(thrust::reduce(t.begin(), t.end()) == std::accumulate(v.begin(), v.end(), 0)); thrust::inclusive_scan(t.begin(), t.end(), t.begin()); EXPECT(t[4999] == std::accumulate(v.begin(), v.end(), 0));
  thrust::transform(t.begin(), t.end(), t.begin(), [] __device__(int x) { return x % 10; }); EXPECT(thrust::count_if(t.begin(), t.end(), [] __device__(int x) { return x > 9; }) == 0);
  auto* dv = device(v); int* o2; cudaMalloc(&o2, 20000); size_t bytes = 0; void* temp = nullptr; int* selected; cudaMalloc(&selected, 4);
  cub::DeviceSelect::If(nullptr, bytes, dv, o2, selected, 5000, [] __device__(int x) { return x % 2 == 0; }); cudaMalloc(&temp, bytes);
  EXPECT(cub::DeviceSelect::If(temp, bytes, dv, o2, selected, 5000, [] __device__(int x) { return x % 2 == 0; }) == cudaSuccess); EXPECT(host(selected, 1)[0] == std::count_if(v.begin(), v.end(), [](int x) { return x % 2 == 0; }));
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
