// flags: -arch=sm_89 -std=c++17
// gpu: l40
// Sparse products of 8-bit floats by one warp.
#include "../expect.h"
#include <cuda_fp8.h>
__global__ void multiply(const unsigned* a, const unsigned* b, float* c, unsigned places) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  float d[4] = {1, 1, 1, 1};
  // Rows of A have 8 words and columns of B 16; a lane has words t, t + 4, …
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + 4 + t]), "r"(a[(g + 8) * 8 + 4 + t]), "r"(b[g * 16 + t]), "r"(b[g * 16 + 4 + t]), "r"(b[g * 16 + 8 + t]), "r"(b[g * 16 + 12 + t]), "r"(places));
  for (int i = 0; i < 4; ++i) c[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = d[i];
}
int main() {
  std::vector<unsigned char> a(16 * 32), b(8 * 64);
  for (size_t i = 0; i < a.size(); ++i) a[i] = __nv_fp8_e4m3(float(i * 5 % 9) - 4).__x;
  for (size_t i = 0; i < b.size(); ++i) b[i] = __nv_fp8_e5m2(float(i * 3 % 7) - 3).__x;
  float* c;
  cudaMalloc(&c, 128 * sizeof *c);
  multiply<<<1, 32>>>(reinterpret_cast<unsigned*>(device(a)), reinterpret_cast<unsigned*>(device(b)), c, 0x9999cccc);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  const auto got = host(c, 128);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      float sum = 1;
      for (int k = 0; k < 32; ++k) {
        const int place = k / 2 * 4 + (row < 8 ? k % 2 * 3 : 1 + k % 2); // 0 and 3 of four, or 1 and 2
        __nv_fp8_e4m3 x; __nv_fp8_e5m2 y;
        x.__x = a[row * 32 + k], y.__x = b[column * 64 + place];
        sum += float(x) * float(y);
      }
      EXPECT(got[row * 8 + column] == sum);
    }
  std::puts(wrong ? "FAIL" : "all right");
  return wrong;
}
