// Accesses that a toolkit header makes through its arguments.
#include <algorithm>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/span>
#include <cuda_fp16.h>

__global__ void halves(__half* h, __half2* pairs, float* out) {
  h[0] = h[1] + h[2];
  h[3] += h[4];
  pairs[0] = __hmul2(pairs[1], pairs[2]);
  out[0] = __half2float(h[5]);
  h[6] = __float2half(out[1]);
  __half kept = h[7];
  kept += h[8];
  h[9] = kept;
}
__global__ void standard(float* out, int* values, cuda::std::complex<float>* z, cuda::std::array<float, 8>* rows) {
  values[0] = max(values[1], values[2]);
  z[0] = z[1] * z[2];
  out[0] = z[3].real() + rows[0][1];
  cuda::std::array<float, 4> kept{};
  kept[threadIdx.x & 3] = out[1];
  out[2] = kept[0];
  cuda::std::span<float> span(out, 8);
  span[3] = cuda::std::move(span[4]);
}
__global__ void sampled(cudaTextureObject_t texture, float* out) {
  out[0] = tex1Dfetch<float>(texture, 3);
  memcpy(out, out + 8, 16);
}
int main() {}
