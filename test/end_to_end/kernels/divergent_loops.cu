// The lanes of each warp part into eight groups, each with a loop of its own: one load and one store say nothing of it. The second kernel
// writes what only the machine code that was executed knows: a clock. The third reads a texture, which the executor does not.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void parted(float* out, const float* in, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  switch (threadIdx.x % 32 / 4) {
  case 0:
    for (int k = 0; k < steps; ++k)
      x = x * 1.5f + 1;
    break;
  case 1:
    for (int k = 0; k < steps; ++k)
      x = x * x + 2;
    break;
  case 2:
    for (int k = 0; k < steps; ++k)
      x = fmaxf(x * 2.f, 3.f - x);
    break;
  case 3:
    for (int k = 0; k < steps; ++k)
      x = x - 0.5f * x * x;
    break;
  case 4:
    for (int k = 0; k < steps; ++k)
      x = x * 0.25f + k;
    break;
  case 5:
    for (int k = 0; k < steps; ++k)
      x = __int_as_float(__float_as_int(x) ^ k);
    break;
  case 6:
    for (int k = 0; k < steps; ++k)
      x = fminf(x + 1.f, x * x);
    break;
  default:
    for (int k = 0; k < steps; ++k)
      x = fabsf(x - k);
  }
  out[i] = x;
}

__global__ void timed(long long* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = clock64();
}

// A trigger of a counter, which the executor does not know.
__global__ void refused(unsigned* out, const unsigned* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("pmevent 3;");
  out[i] = in[i] + i;
}

int main(int count, char** arguments) {
  constexpr int threads = 32768;
  const int steps = count > 1 ? std::atoi(arguments[1]) : 64;
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, threads * sizeof(float));
  cudaMalloc(&out, 2 * threads * sizeof(float));
  cudaMemset(in, 0, threads * sizeof(float));
  parted<<<threads / 256, 256>>>(out, in, steps);
  timed<<<threads / 256, 256>>>(reinterpret_cast<long long*>(out));
  refused<<<threads / 256, 256>>>(reinterpret_cast<unsigned*>(out), reinterpret_cast<unsigned*>(in));
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
