// One kernel, and the ending that the first argument requests.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__global__ void fill(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

int main(int argc, char** argv) {
  const char* ending = argc > 1 ? argv[1] : "normal";
  if (std::strcmp(ending, "without-launch") == 0)
    return 0;
  int* out = nullptr;
  cudaMalloc(&out, 64 * 128 * sizeof(int));
  fill<<<64, 128>>>(out);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("filled: %s\n", cudaGetErrorName(status));
  std::fflush(stdout);
  if (std::strcmp(ending, "abort") == 0)
    std::abort();
  if (std::strcmp(ending, "at-once") == 0)
    std::_Exit(0); // the trace is not closed
  if (std::strcmp(ending, "exit-3") == 0)
    return 3;
  return 0;
}
