// Kernels that take many registers and few. Prints for each the properties from CUDA's runtime: registers, bytes of local memory,
// blocks of 256 threads that an SM holds.
#include <cstdio>

template <int count> __device__ void rotate(float* data) {
  float values[count];
#pragma unroll
  for (int i = 0; i < count; ++i)
    values[i] = data[256 * i + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < count; ++i)
    data[256 * i + threadIdx.x] = values[i] * values[(i + 7) % count];
}

__global__ void demanding(float* data) { rotate<80>(data); }
__global__ void __launch_bounds__(1024) bounded(float* data) { rotate<80>(data); }
template <class T> static __global__ void modest(T* data) { data[threadIdx.x] *= 2; }
namespace {
__global__ void hidden(float* data) { rotate<50>(data); }
} // namespace

template <class Kernel> void show(const char* name, Kernel* kernel, float* data) {
  cudaFuncAttributes attributes;
  int blocks = 0;
  if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0) == cudaSuccess)
    std::printf("%s %d %d %d\n", name, attributes.numRegs, int(attributes.localSizeBytes), blocks);
  kernel<<<2, 256>>>(data);
}

int main() {
  float* data;
  cudaMalloc(&data, 80 * 256 * sizeof(float));
  cudaMemset(data, 0, 80 * 256 * sizeof(float));
  show("demanding", &demanding, data);
  show("bounded", &bounded, data);
  show("modest", &modest<float>, data);
  show("hidden", &hidden, data);
  return cudaDeviceSynchronize() != cudaSuccess;
}
