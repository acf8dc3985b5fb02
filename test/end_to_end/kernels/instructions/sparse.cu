// flags: -arch=sm_80
// Products whose A is sparse: of each four elements two are there, of TF32's pairs one.
#include "../device/check.h"

#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>

__host__ __device__ int packed_at(int row, int k) {
  return (row * 3 + k * 5) % 7 - 3;
}
__host__ __device__ int b_at(int k, int column) {
  return (k * 2 + column * 3) % 5 - 2;
}
/// The place of the packed element in its group: of a group's two, or its one.
__host__ __device__ int place(int row, int k, bool of_pairs) {
  const int group = of_pairs ? row + k : row + k / 2;
  if (of_pairs)
    return group % 2;
  const int firsts[6] = {0, 0, 0, 1, 1, 2}, seconds[6] = {1, 2, 3, 2, 3, 3};
  return k % 2 == 0 ? firsts[group % 6] : seconds[group % 6];
}
/// Lane `first` of each four and those behind it have the places of 16 bits for each row.
__device__ std::uint32_t places(int first, int lanes, bool of_pairs) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4 - first, per_lane = of_pairs ? 4 : 8;
  if (t < 0 || t >= lanes)
    return 0;
  std::uint32_t word = 0;
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < per_lane; ++k) {
      const int at = place(g + 8 * half, t * per_lane + k, of_pairs);
      word |= std::uint32_t(of_pairs ? (at == 0 ? 4 : 14) : at) << (16 * half + 16 / per_lane * k);
    }
  return word;
}
template <class Sum> __device__ void put(Sum* out, const std::uint32_t (&d)[4]) {
  for (int i = 0; i < 4; ++i)
    memcpy(&out[(threadIdx.x / 4 + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2], &d[i], 4);
}
__device__ std::uint32_t halves(int first, int second) {
  const half2 pair = {__int2half_rn(first), __int2half_rn(second)};
  std::uint32_t word;
  memcpy(&word, &pair, 4);
  return word;
}

#define MULTIPLY(types, selector) \
  asm("mma.sp::ordered_metadata.sync.aligned." types \
      " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%0,%1,%2,%3},%12," selector ";" \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(e))

// Several products read the same places.
template <int products> __global__ void of_halves(float* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  std::uint32_t a[4], b[4], d[4] = {};
  for (int word = 0; word < 4; ++word) {
    const int row = g + word % 2 * 8, k = 2 * t + word / 2 * 8;
    a[word] = halves(packed_at(row, k), packed_at(row, k + 1));
    b[word] = halves(b_at(2 * t + 8 * word, g), b_at(2 * t + 8 * word + 1, g));
  }
  const std::uint32_t e = places(2, 2, false);
#pragma unroll
  for (int i = 0; i < products; ++i)
    MULTIPLY("m16n8k32.row.col.f32.f16.f16.f32", "0x1");
  put(out, d);
}
__global__ void of_tf32(float* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  std::uint32_t a[4], b[4], d[4] = {};
  for (int word = 0; word < 4; ++word) {
    a[word] = __float_as_uint(float(packed_at(g + word % 2 * 8, t + word / 2 * 4)));
    b[word] = __float_as_uint(float(b_at(t + 4 * word, g)));
  }
  const std::uint32_t e = places(0, 2, true);
  MULTIPLY("m16n8k16.row.col.f32.tf32.tf32.f32", "0x0");
  put(out, d);
}
__global__ void of_bytes(int* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  std::uint32_t a[4] = {}, b[4] = {}, d[4] = {};
  for (int word = 0; word < 4; ++word)
    for (int byte = 0; byte < 4; ++byte) {
      a[word] |= std::uint32_t(packed_at(g + word % 2 * 8, 4 * t + word / 2 * 16 + byte) & 0xff) << 8 * byte;
      b[word] |= std::uint32_t(b_at(4 * t + 16 * word + byte, g) & 0xff) << 8 * byte;
    }
  const std::uint32_t e = places(0, 4, false);
  MULTIPLY("m16n8k64.row.col.s32.s8.s8.s32", "0x0");
  put(out, d);
}

int product(int i, int depth, bool of_pairs) {
  int sum = 0;
  for (int k = 0; k < depth / 2; ++k)
    sum += packed_at(i / 8, k) * b_at((of_pairs ? 2 * k : k / 2 * 4) + place(i / 8, k, of_pairs), i % 8);
  return sum;
}

int main() {
  check<float>("halves", of_halves<1>, 1, 32, 128, [](int i) { return product(i, 32, false); });
  check<float>("halves, twice", of_halves<2>, 1, 32, 128,
               [](int i) { return 2 * product(i, 32, false); });
  check<float>("TF32", of_tf32, 1, 32, 128, [](int i) { return product(i, 16, true); });
  check<int>("bytes", of_bytes, 1, 32, 128, [](int i) { return product(i, 64, false); });
}
