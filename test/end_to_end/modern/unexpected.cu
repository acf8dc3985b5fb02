// The type of an error that libcu++ deduces in device code.
#include <cstdio>
#include <cuda/std/expected>

__device__ cuda::std::expected<int, float> half_of(int x) {
  if (x % 2)
    return cuda::std::unexpected(x * 0.5f);
  return x / 2;
}

__global__ void halves(float* out) {
  const auto half = half_of(threadIdx.x);
  out[threadIdx.x] = half ? *half : -half.error();
}

int main() {
  float *out, got[4];
  cudaMalloc(&out, sizeof got);
  halves<<<1, 4>>>(out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault);
  std::printf("%g %g %g %g\n", got[0], got[1], got[2], got[3]);
}
