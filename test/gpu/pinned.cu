// Measures how fast a kernel writes to pinned host memory, the reference for the ring buffers' throughput. Prints
// "pinned_write_gb_per_s VALUE" and, for the copy engine, "copy_to_host_gb_per_s VALUE".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void write(ulonglong2* memory, unsigned long long count) {
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    memory[i] = make_ulonglong2(i, i);
}

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess)
    return;
  std::printf("%s\n", cudaGetErrorName(status));
  std::exit(1);
}

template <class Work> double best_gb_per_s(double bytes, Work work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float best = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    check(cudaEventRecord(begin));
    work();
    check(cudaEventRecord(end));
    check(cudaDeviceSynchronize());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    best = std::max(best, static_cast<float>(bytes) / milliseconds / 1e6f);
  }
  return best;
}

} // namespace

int main() {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  void *pinned = nullptr, *device = nullptr;
  check(cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
  check(cudaMalloc(&device, bytes));
  std::printf("pinned_write_gb_per_s %.2f\n", best_gb_per_s(bytes, [&] {
                write<<<1024, 256>>>(static_cast<ulonglong2*>(pinned), bytes / sizeof(ulonglong2));
                check(cudaGetLastError());
              }));
  std::printf("copy_to_host_gb_per_s %.2f\n", best_gb_per_s(bytes, [&] {
                check(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost));
              }));
}
