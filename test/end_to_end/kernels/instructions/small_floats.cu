// flags: -arch=sm_120a
// Products of floats of 4, 6 and 8 bits, with scales of rows and columns and without.
#include "../device/check.h"

#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

constexpr int depth_of_bytes = 32, depth_of_nibbles = 64;

__host__ __device__ float a_at(int row, int k) {
  return float((row * 3 + k * 5) % 7 - 3);
}
__host__ __device__ float b_at(int k, int column) {
  return float((k * 2 + column * 3) % 5 - 2);
}

template <class T> __device__ std::uint32_t in_byte(float value) {
  const std::uint32_t bits = T(value).__x;
  return sizeof(T) == 1 && std::is_same_v<T, __nv_fp4_e2m1> ? (bits & 15) << 2 : bits;
}

struct Fragments {
  std::uint32_t a[4], b[2];
};
template <class A, class B> __device__ Fragments bytes() {
  Fragments fragments = {};
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int byte = 0; byte < 4; ++byte) {
    for (int word = 0; word < 4; ++word)
      fragments.a[word] |= in_byte<A>(a_at(g + word % 2 * 8, 4 * t + word / 2 * 16 + byte)) << 8 * byte;
    for (int word = 0; word < 2; ++word)
      fragments.b[word] |= in_byte<B>(b_at(4 * t + word * 16 + byte, g)) << 8 * byte;
  }
  return fragments;
}
__device__ Fragments nibbles() {
  Fragments fragments = {};
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int nibble = 0; nibble < 8; ++nibble) {
    for (int word = 0; word < 4; ++word)
      fragments.a[word] |= (__nv_fp4_e2m1(a_at(g + word % 2 * 8, 8 * t + word / 2 * 32 + nibble)).__x & 15u) << 4 * nibble;
    for (int word = 0; word < 2; ++word)
      fragments.b[word] |= (__nv_fp4_e2m1(b_at(8 * t + word * 32 + nibble, g)).__x & 15u) << 4 * nibble;
  }
  return fragments;
}
__device__ void put(float* out, const float (&d)[4]) {
  for (int i = 0; i < 4; ++i)
    out[(threadIdx.x / 4 + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
}

#define SUMS "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3}"
#define OPERANDS \
  : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) \
  : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1])

#define PLAIN(name, A, B) \
  __global__ void name##_plain(float* out) { \
    const Fragments f = bytes<__nv_##A, __nv_##B>(); \
    float d[4] = {}; \
    asm("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32." name##_types ".f32 " SUMS ";" OPERANDS); \
    put(out, d); \
  }
#define of_4_types "e2m1.e2m1"
#define of_6_types "e3m2.e2m3"
#define mixed_types "e5m2.e2m1"
PLAIN(of_4, fp4_e2m1, fp4_e2m1)
PLAIN(of_6, fp6_e3m2, fp6_e2m3)
PLAIN(mixed, fp8_e5m2, fp4_e2m1)

/// The scale of a row is 2^(row % 3), of a column 2^-(column % 2). They are in byte 1 of the second pair of
/// lanes, and in byte 2 of the third lane.
__global__ void scaled_bytes(float* out) {
  const Fragments f = bytes<__nv_fp8_e4m3, __nv_fp8_e4m3>();
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const std::uint32_t of_row = t < 2 ? 0 : (127 + (g + t % 2 * 8) % 3) << 8, of_column = t == 2 ? (127 - g % 2) << 16 : 0;
  float d[4] = {};
  asm("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 " SUMS
      ", {%10}, {1, 1}, {%11}, {2, 2};" OPERANDS,
      "r"(of_row), "r"(of_column));
  put(out, d);
}
/// Each half of the depth has a scale: the second is twice the first.
__global__ void scaled_nibbles(float* out) {
  const Fragments f = nibbles();
  const std::uint32_t of_row = 128 << 8 | 127, of_column = 127 << 8 | 127;
  float d[4] = {};
  asm("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 " SUMS
      ", {%10}, {0, 0}, {%11}, {0, 0};" OPERANDS,
      "r"(of_row), "r"(of_column));
  put(out, d);
}
/// Each quarter has one, of e4m3: 1, 1.5, 2 and 1 of rows, and 1 of columns.
__global__ void scaled_quarters(float* out) {
  const Fragments f = nibbles();
  const std::uint32_t of_row = 0x38 << 24 | 0x40 << 16 | 0x3c << 8 | 0x38, of_column = 0x38383838;
  float d[4] = {};
  asm("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 " SUMS
      ", {%10}, {0, 0}, {%11}, {0, 0};" OPERANDS,
      "r"(of_row), "r"(of_column));
  put(out, d);
}

template <class Scale> float product(int i, int depth, Scale scale) {
  float sum = 0;
  for (int k = 0; k < depth; ++k)
    sum += a_at(i / 8, k) * b_at(k, i % 8) * scale(i / 8, i % 8, k);
  return sum;
}

// E4M3 to halves, from the lower and from the upper half of a register. The product has the machine code executed.
__global__ void to_halves(float* out) {
  const int lane = threadIdx.x;
  const Fragments f = nibbles();
  float d[4] = {};
  asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32 " SUMS ";" OPERANDS);
  std::uint32_t bytes = 0;
  for (int i = 0; i < 4; ++i)
    bytes |= in_byte<__nv_fp8_e4m3>(float(lane % 7 + i)) << 8 * i;
  bytes = __shfl_xor_sync(~0U, bytes, 1); // so that the compiler does not see where they come from
  for (int half = 0; half < 2; ++half) {
    std::uint32_t pair;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(std::uint16_t(bytes >> 16 * half)));
    for (int i = 0; i < 2; ++i)
      out[4 * lane + 2 * half + i] = __half2float(__ushort_as_half(std::uint16_t(pair >> 16 * i)));
  }
}

int main() {
  check<float>("E4M3 to halves", to_halves, 1, 32, 128, [](int i) { return (i / 4 ^ 1) % 7 + i % 4; });
  const auto plain = [](int i) { return product(i, depth_of_bytes, [](int, int, int) { return 1; }); };
  check<float>("4 bits", of_4_plain, 1, 32, 128, plain);
  check<float>("6 bits", of_6_plain, 1, 32, 128, plain);
  check<float>("8 and 4 bits", mixed_plain, 1, 32, 128, plain);
  check<float>("8 bits, scaled", scaled_bytes, 1, 32, 128, [](int i) {
    return product(i, depth_of_bytes, [](int row, int column, int) { return float(1 << row % 3) / float(1 << column % 2); });
  });
  check<float>("4 bits, scaled by halves", scaled_nibbles, 1, 32, 128,
               [](int i) { return product(i, depth_of_nibbles, [](int, int, int k) { return k < 32 ? 1 : 2; }); });
  check<float>("4 bits, scaled by quarters", scaled_quarters, 1, 32, 128, [](int i) {
    return product(i, depth_of_nibbles, [](int, int, int k) { return k / 16 == 1 ? 1.5f : k / 16 == 2 ? 2 : 1; });
  });
}
