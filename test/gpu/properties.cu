// Prints CUDA's properties of every device, one "NAME VALUE" a line. Exit code 3 if there is none.
#include <cstdio>
#include <cuda_runtime.h>

int main() {
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::printf("driver %d\nruntime %d\ndevices %d\n", driver, runtime, count);
  if (error != cudaSuccess || count == 0) {
    std::printf("%s: %s (driver %d, runtime %d)\n", cudaGetErrorName(error), cudaGetErrorString(error), driver,
                runtime);
    return 3;
  }
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, device) != cudaSuccess)
      return 1;
    std::printf("device %d\nname %s\ncompute_capability %d.%d\nsms %d\nl2_bytes %d\nmemory_bytes %zu\n",
                device, p.name, p.major, p.minor, p.multiProcessorCount, p.l2CacheSize, p.totalGlobalMem);
    std::printf(
        "memory_bus_bits %d\nshared_per_sm %zu\nshared_per_block_optin %zu\nreserved_shared_per_block %zu\n",
        p.memoryBusWidth, p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin,
        p.reservedSharedMemPerBlock);
    std::printf("registers_per_sm %d\nmax_threads_per_sm %d\nmax_blocks_per_sm %d\n", p.regsPerMultiprocessor,
                p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
  }
}
