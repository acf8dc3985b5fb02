// The kernels of vaughaningram/gpu-perf-model for a product of square matrices; compiled with that repository
// as an include folder.
//
// Usage: sgemm naive|tiled16 SIZE
#include "src/cuda/gemm_naive.cu"
#include "src/reference/gemm_cpu.cpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int, char** argv) {
  const std::size_t size = std::strtoul(argv[2], nullptr, 10);
  gpu_perf::Matrix a(size, size), b(size, size);
  for (std::size_t i = 0; i < size * size; ++i) {
    a.data()[i] = static_cast<float>(i % 7);
    b.data()[i] = static_cast<float>(i % 5);
  }
  const auto product =
      std::strcmp(argv[1], "naive") == 0 ? gpu_perf::gemm_cuda_naive(a, b) : gpu_perf::gemm_cuda_tiled(a, b);
  std::printf("%g\n", product.data()[size + 1]);
}
