// What a program learns of the architecture that its kernels were compiled for, as CUB's host code asks for it: the answer has to be the
// __CUDA_ARCH__ of the kernel that is launched. Prints ARCHITECTURE PTX BINARY DEVICE.
#include <cstdio>

__global__ void which(int* architecture) {
#ifdef __CUDA_ARCH__
#if defined(NEEDS_WHAT_IS_NOT_THERE) && __CUDA_ARCH__ >= 900
  asm volatile("wgmma.fence.sync.aligned;");
#endif
  *architecture = __CUDA_ARCH__ / 10;
#endif
}

#ifdef CHOOSE
// CUB's way (util_device.cuh, ChainedPolicy): the host picks what to launch, for one of the architectures in the list, by the attribute.
template <int architecture> __global__ void tuned(int* found) {
#ifdef __CUDA_ARCH__
  if (__CUDA_ARCH__ == architecture)
    *found = architecture / 10;
#endif
}

template <int... architectures> bool choose(int wanted, int* found) {
  return ((architectures == 10 * wanted && (tuned<architectures><<<1, 1>>>(found), true)) || ...);
}
#endif

int main() {
  int *device, architecture = 0, chosen = 0;
  cudaMalloc(&device, sizeof(int));
  which<<<1, 1>>>(device);
  cudaMemcpy(&architecture, device, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, which);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%d %d %d %d\n", architecture, attributes.ptxVersion, attributes.binaryVersion, 10 * properties.major + properties.minor);
#ifdef CHOOSE
  cudaMemset(device, 0, sizeof(int));
  const bool found = choose<__CUDA_ARCH_LIST__>(attributes.ptxVersion, device);
  cudaMemcpy(&chosen, device, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%s\n", found && chosen == architecture ? "chosen" : "not there");
#endif
  (void)chosen;
}
