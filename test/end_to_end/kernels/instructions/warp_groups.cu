// flags: -arch=sm_90a
// Products of 64 × 64 by a warp group, with each layout of shared memory, each type, and A in registers.
#include "../device/check.h"

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

constexpr int rows = 64, columns = 64, threads = 128, sums = 32;

template <class T> constexpr int depth = 32 / sizeof(T); // of one product

template <class T> __host__ __device__ T a_at(int row, int k) {
  return T(float((row * 3 + k * 5) % 7 - 3));
}
template <class T> __host__ __device__ T b_at(int k, int column) {
  return T(float((k * 2 + column * 3) % 5 - 2));
}

enum class Layout { straight, transposed };

/// Returns where an element lies in a matrix of 64 rows, whose depth is that of the swizzle's row. A swizzle
/// of 16 is none.
template <class T> __device__ int place(Layout layout, int swizzle, int row, int k) {
  const int size = sizeof(T);
  int at = 0;
  if (layout == Layout::straight)
    at = swizzle == 16 ? row / 8 * 256 + row % 8 * 16 + k * size / 16 * 128 + k * size % 16 : row * swizzle + k * size;
  else
    at = swizzle == 16 ? row * size / 16 * 128 + row * size % 16 + k % 8 * 16 + k / 8 * 1024
                       : row * size / swizzle * 2048 + row * size % swizzle + k * swizzle;
  return (at ^ (at >> 7 & (swizzle / 16 - 1)) << 4) / size;
}

__device__ std::uint64_t descriptor(const void* matrix, Layout layout, int swizzle) {
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(matrix));
  const std::uint64_t kind = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  std::uint64_t leading = 128, stride = swizzle == 16 ? 256 : 8 * swizzle;
  if (layout == Layout::transposed) {
    leading = swizzle == 16 ? 1024 : 2048;
    stride = swizzle == 16 ? 128 : 8 * swizzle;
  }
  return (address & 0x3ffff) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | kind << 62;
}

#define OF_4(d, i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define OF_32(d) OF_4(d, 0), OF_4(d, 4), OF_4(d, 8), OF_4(d, 12), OF_4(d, 16), OF_4(d, 20), OF_4(d, 24), OF_4(d, 28)
#define SUMS "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define MULTIPLY(types, scales) \
  asm volatile("wgmma.mma_async.sync.aligned.m64n64" types " " SUMS ", %32, %33, " scales ";" : OF_32(d) : "l"(a), "l"(b))

__device__ void ready() {
  __syncthreads();
  asm volatile("fence.proxy.async;\n\twgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// Writes a lane's sums to their places.
template <class Sum> __device__ void put(Sum* out, const std::uint32_t (&d)[sums]) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < sums; ++i) {
    Sum value;
    memcpy(&value, &d[i], 4);
    out[(warp * 16 + lane / 4 + i / 2 % 2 * 8) * columns + i / 4 * 8 + lane % 4 * 2 + i % 2] = value;
  }
}

template <class T, int swizzle, Layout of_a, Layout of_b> __global__ void multiply(float* out) {
  __shared__ alignas(1024) T a_tile[64 * 64], b_tile[64 * 64];
  for (int i = threadIdx.x; i < 64 * depth<T>; i += threads) {
    a_tile[place<T>(of_a, swizzle, i / depth<T>, i % depth<T>)] = a_at<T>(i / depth<T>, i % depth<T>);
    b_tile[place<T>(of_b, swizzle, i / depth<T>, i % depth<T>)] = b_at<T>(i % depth<T>, i / depth<T>);
  }
  ready();
  const std::uint64_t a = descriptor(a_tile, of_a, swizzle), b = descriptor(b_tile, of_b, swizzle);
  std::uint32_t d[sums] = {};
  if constexpr (sizeof(T) == 4)
    MULTIPLY("k8.f32.tf32.tf32", "1, 1, 1");
  else if constexpr (sizeof(T) == 1)
    MULTIPLY("k32.f32.e4m3.e4m3", "1, 1, 1");
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    MULTIPLY("k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
  else if constexpr (of_a == Layout::transposed)
    MULTIPLY("k16.f32.f16.f16", "1, 1, 1, 1, 1");
  else if constexpr (of_b == Layout::transposed)
    MULTIPLY("k16.f32.f16.f16", "1, 1, 1, 0, 1");
  else
    MULTIPLY("k16.f32.f16.f16", "1, 1, 1, 0, 0");
  finish();
  put(out, d);
}

__global__ void of_bytes(int* out) {
  using T = std::int8_t;
  __shared__ alignas(1024) T a_tile[64 * 32], b_tile[64 * 32];
  for (int i = threadIdx.x; i < 64 * 32; i += threads) {
    a_tile[place<T>(Layout::straight, 32, i / 32, i % 32)] = a_at<T>(i / 32, i % 32);
    b_tile[place<T>(Layout::straight, 32, i / 32, i % 32)] = b_at<T>(i % 32, i / 32);
  }
  ready();
  const std::uint64_t a = descriptor(a_tile, Layout::straight, 32), b = descriptor(b_tile, Layout::straight, 32);
  std::uint32_t d[sums];
  for (int i = 0; i < sums; ++i)
    d[i] = 100;
  MULTIPLY("k32.s32.s8.s8", "1");
  finish();
  put(out, d);
}

/// A is in registers and is negated, and sums do not begin with what is there where the predicate is false.
__global__ void from_registers(float* out) {
  __shared__ alignas(1024) half b_tile[64 * 16];
  for (int i = threadIdx.x; i < 64 * 16; i += threads)
    b_tile[place<half>(Layout::straight, 32, i / 16, i % 16)] = b_at<half>(i % 16, i / 16);
  ready();
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, k = threadIdx.x % 4 * 2;
  std::uint32_t a[4], d[sums];
  for (int word = 0; word < 4; ++word) {
    const int at = row + word % 2 * 8, from = k + word / 2 * 8;
    const half2 pair = {a_at<half>(at, from), a_at<half>(at, from + 1)};
    memcpy(&a[word], &pair, 4);
  }
  for (int i = 0; i < sums; ++i)
    d[i] = 0x42c80000; // 100
  const std::uint64_t b = descriptor(b_tile, Layout::straight, 32);
  asm volatile("{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, %37, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " SUMS ", {%32,%33,%34,%35}, %36, adds, -1, 1, 0;\n\t}"
               : OF_32(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(gridDim.y) - 1));
  finish();
  put(out, d);
}

/// The second block of a cluster has matrices of its own: descriptors are of the block's shared memory.
__global__ void __cluster_dims__(2) in_cluster(float* out) {
  __shared__ alignas(1024) half a_tile[64 * 16], b_tile[64 * 16];
  for (int i = threadIdx.x; i < 64 * 16; i += threads) {
    a_tile[place<half>(Layout::straight, 32, i / 16, i % 16)] = __hmul(a_at<half>(i / 16, i % 16), half(float(blockIdx.x + 1)));
    b_tile[place<half>(Layout::straight, 32, i / 16, i % 16)] = b_at<half>(i % 16, i / 16);
  }
  ready();
  const std::uint64_t a = descriptor(a_tile, Layout::straight, 32), b = descriptor(b_tile, Layout::straight, 32);
  std::uint32_t d[sums] = {};
  MULTIPLY("k16.f32.f16.f16", "1, 1, 1, 0, 0");
  finish();
  put(out + blockIdx.x * rows * columns, d);
}

/// Once a warp's products are done, so are those of the other three: the first one overwrites their matrix.
__global__ void overwritten(float* out) {
  __shared__ alignas(1024) half a_tile[64 * 16], b_tile[64 * 16];
  for (int i = threadIdx.x; i < 64 * 16; i += threads) {
    a_tile[place<half>(Layout::straight, 32, i / 16, i % 16)] = a_at<half>(i / 16, i % 16);
    b_tile[place<half>(Layout::straight, 32, i / 16, i % 16)] = b_at<half>(i % 16, i / 16);
  }
  ready();
  const std::uint64_t a = descriptor(a_tile, Layout::straight, 32), b = descriptor(b_tile, Layout::straight, 32);
  std::uint32_t d[sums] = {};
  MULTIPLY("k16.f32.f16.f16", "1, 1, 1, 0, 0");
  finish();
  for (int i = threadIdx.x; threadIdx.x < 32 && i < 64 * 16; i += 32)
    a_tile[i] = half(0.f);
  put(out, d);
}

/// The first warp group gives registers to the second.
__global__ void __launch_bounds__(256, 1) registers(int* out) {
  if (threadIdx.x < 128)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  out[threadIdx.x] = threadIdx.x;
}

template <class T> float product(int i, float first = 0) {
  for (int k = 0; k < depth<T>; ++k)
    first += float(a_at<T>(i / columns, k)) * float(b_at<T>(k, i % columns));
  return first;
}

int main() {
  constexpr auto straight = Layout::straight, transposed = Layout::transposed;
  constexpr int count = rows * columns;
  check<float>("rows of 16 bytes", multiply<half, 16, straight, straight>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("rows of 32 bytes", multiply<half, 32, straight, straight>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("rows of 64 bytes", multiply<half, 64, straight, straight>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("rows of 128 bytes", multiply<half, 128, straight, straight>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("transposed, 16 bytes", multiply<half, 16, transposed, transposed>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("transposed, 64 bytes", multiply<half, 64, transposed, transposed>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("B transposed, 128 bytes", multiply<half, 128, straight, transposed>, 1, threads, count, [](int i) { return product<half>(i); });
  check<float>("bfloat16", multiply<__nv_bfloat16, 128, straight, straight>, 1, threads, count, [](int i) { return product<__nv_bfloat16>(i); });
  check<float>("tf32", multiply<float, 128, straight, straight>, 1, threads, count, [](int i) { return product<float>(i); });
  check<float>("e4m3", multiply<__nv_fp8_e4m3, 64, straight, straight>, 1, threads, count, [](int i) { return product<__nv_fp8_e4m3>(i); });
  check<int>("bytes", of_bytes, 1, threads, count, [](int i) { return int(product<std::int8_t>(i, 100)); });
  check<float>("in a cluster", in_cluster, 2, threads, 2 * count, [](int i) { return (i / count + 1) * product<half>(i % count); });
  check<float>("overwritten", overwritten, 1, threads, count, [](int i) { return product<half>(i); });
  check<int>("registers", registers, 1, 256, 256, [](int i) { return i; });
  check<float>("A in registers", from_registers, 1, threads, count, [](int i) { return -product<half>(i); });
}
