// The compute capability of the device that runs the kernel.
#include <cstdio>

__global__ void mark(int* out) {
  *out = 1;
}

int main() {
  int* out;
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  cudaMalloc(&out, sizeof *out);
  mark<<<1, 1>>>(out);
  std::printf("%d.%d %s\n", device.major, device.minor, cudaGetErrorName(cudaDeviceSynchronize()));
}
