// Dense matrix multiply, C = A B, for square matrices of any size, in two versions:
//   matmul_naive  each thread reads a whole row of A and a whole column of B from global memory;
//   matmul_tiled  each block brings tiles of A and B into shared memory, where every element is used TILE
//                 times.
//
// Usage: matmul [SIZE]    default 128
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <vector>

constexpr unsigned TILE = 16;

__global__ void matmul_naive(unsigned size, const float* a, const float* b, float* c) {
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  if (row >= size || column >= size)
    return;
  float sum = 0;
  for (unsigned k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

// Threads beyond the matrix stay to the end: all of a block must meet at each barrier.
__global__ void matmul_tiled(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < size; first += TILE) {
    const unsigned column_a = first + threadIdx.x;
    const unsigned row_b = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < size && column_a < size ? a[row * size + column_a] : 0;
    tile_b[threadIdx.y][threadIdx.x] = row_b < size && column < size ? b[row_b * size + column] : 0;
    __syncthreads(); // the tiles are filled
    for (unsigned k = 0; k < TILE; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads(); // the tiles may be overwritten
  }
  if (row < size && column < size)
    c[row * size + column] = sum;
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "matmul: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

float* to_device(const std::vector<float>& host, const char* name) {
  float* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(float)), name);
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice), name);
  return device;
}

// Goes through B row by row, which suits a cache, in double precision.
std::vector<double> product(unsigned size, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(a.size());
  for (unsigned row = 0; row < size; ++row)
    for (unsigned k = 0; k < size; ++k) {
      const double factor = a[row * size + k];
      for (unsigned column = 0; column < size; ++column)
        c[row * size + column] += factor * b[k * size + column];
    }
  return c;
}

int main(int argc, char** argv) {
  const long size_asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 128;
  if (argc > 2 || size_asked < 1 || size_asked > 8192) {
    std::fprintf(stderr, "usage: matmul [SIZE], from 1 to 8192\n");
    return 2;
  }
  const unsigned size = static_cast<unsigned>(size_asked);
  const std::size_t elements = static_cast<std::size_t>(size) * size;

  std::mt19937 random(1);
  std::vector<float> host_a(elements), host_b(elements), host_c(elements);
  for (std::vector<float>* matrix : {&host_a, &host_b})
    for (float& element : *matrix)
      element = static_cast<float>(random() >> 8) / (1 << 24); // in [0, 1)
  const std::vector<double> expected = product(size, host_a, host_b);
  float* a = to_device(host_a, "a");
  float* b = to_device(host_b, "b");
  float* c = to_device(host_c, "c");

  const dim3 threads(TILE, TILE);
  const dim3 blocks((size + TILE - 1) / TILE, (size + TILE - 1) / TILE);
  bool all_right = true;
  auto judge = [&](const char* kernel) {
    check(cudaGetLastError(), kernel);
    check(cudaMemcpy(host_c.data(), c, elements * sizeof(float), cudaMemcpyDeviceToHost), kernel);
    check(cudaMemset(c, 0, elements * sizeof(float)), kernel);
    bool right = true;
    for (std::size_t i = 0; i < elements; ++i)
      right &= std::abs(host_c[i] - expected[i]) <= 1e-4 * expected[i];
    std::printf("%-12s %s\n", kernel, right ? "PASS" : "FAIL");
    all_right &= right;
  };
  std::printf("matmul: %u x %u\n", size, size);
  matmul_naive<<<blocks, threads>>>(size, a, b, c);
  judge("matmul_naive");
  matmul_tiled<<<blocks, threads>>>(size, a, b, c);
  judge("matmul_tiled");
  check(cudaFree(a), "a");
  check(cudaFree(b), "b");
  check(cudaFree(c), "c");
  return all_right ? 0 : 1;
}
