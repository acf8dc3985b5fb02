// Queries the architecture that a program's kernels were compiled for, as CUB's host code does: the answer must be the
// __CUDA_ARCH__ of the launched kernel. Prints ARCHITECTURE PTX BINARY DEVICE.
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
// The host picks the kernel by the attribute, for one architecture of the list, as CUB does (util_device.cuh, ChainedPolicy).
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
