// Dense matrix multiply, C = A B, for square matrices of any size, in seven steps of optimisation, each on top
// of the one before:
//   baseline          each thread computes an element; the lanes of a warp lie in different rows
//   coalesced         the lanes of a warp lie in one row
//   tiled             tiles of A and B in shared memory; that of B is turned, so that its columns conflict
//   no_bank_conflict  the turned tile has rows of 17 elements
//   compute_optimised each thread computes 4 elements of a column, and uses each element of B 4 times
//   prefetch          the next tiles are on their way to registers while these are used
//   unrolled          the loop over a tile is unrolled
// They are the steps of the study in arXiv 2408.10143 in our own words; `warplens sweep` and `warplens explain`
// say what their times grow with.
//
// Usage: matmul_variants [SIZE]    default 64
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <vector>

constexpr unsigned TILE = 16;
constexpr unsigned ROWS = 4; // that a thread computes, from `compute_optimised` on

__global__ void baseline(unsigned size, const float* a, const float* b, float* c) {
  const unsigned row = blockIdx.y * TILE + threadIdx.x;
  const unsigned column = blockIdx.x * TILE + threadIdx.y;
  if (row >= size || column >= size)
    return;
  float sum = 0;
  for (unsigned k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

__global__ void coalesced(unsigned size, const float* a, const float* b, float* c) {
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  if (row >= size || column >= size)
    return;
  float sum = 0;
  for (unsigned k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

// Returns an element, or 0 outside of the matrix.
__device__ float element(const float* matrix, unsigned row, unsigned column, unsigned size) {
  return row < size && column < size ? matrix[row * size + column] : 0;
}

__global__ void tiled(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE]; // turned: [column][row]
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < size; first += TILE) {
    tile_a[threadIdx.y][threadIdx.x] = element(a, row, first + threadIdx.x, size);
    tile_b[threadIdx.x][threadIdx.y] = element(b, first + threadIdx.y, column, size);
    __syncthreads(); // the tiles are filled
    for (unsigned k = 0; k < TILE; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[threadIdx.x][k];
    __syncthreads(); // the tiles may be overwritten
  }
  if (row < size && column < size)
    c[row * size + column] = sum;
}

__global__ void no_bank_conflict(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE + 1];
  const unsigned row = blockIdx.y * TILE + threadIdx.y;
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (unsigned first = 0; first < size; first += TILE) {
    tile_a[threadIdx.y][threadIdx.x] = element(a, row, first + threadIdx.x, size);
    tile_b[threadIdx.x][threadIdx.y] = element(b, first + threadIdx.y, column, size);
    __syncthreads();
    for (unsigned k = 0; k < TILE; ++k)
      sum += tile_a[threadIdx.y][k] * tile_b[threadIdx.x][k];
    __syncthreads();
  }
  if (row < size && column < size)
    c[row * size + column] = sum;
}

// Blocks of 16 x 4 threads: each thread computes rows threadIdx.y, threadIdx.y + 4, … of the block's tile.
__global__ void compute_optimised(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE + 1];
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum[ROWS] = {};
  for (unsigned first = 0; first < size; first += TILE) {
    for (unsigned r = 0; r < ROWS; ++r) {
      const unsigned y = threadIdx.y + r * (TILE / ROWS);
      tile_a[y][threadIdx.x] = element(a, blockIdx.y * TILE + y, first + threadIdx.x, size);
      tile_b[threadIdx.x][y] = element(b, first + y, column, size);
    }
    __syncthreads();
    for (unsigned k = 0; k < TILE; ++k) {
      const float factor = tile_b[threadIdx.x][k];
      for (unsigned r = 0; r < ROWS; ++r)
        sum[r] += tile_a[threadIdx.y + r * (TILE / ROWS)][k] * factor;
    }
    __syncthreads();
  }
  for (unsigned r = 0; r < ROWS; ++r) {
    const unsigned row = blockIdx.y * TILE + threadIdx.y + r * (TILE / ROWS);
    if (row < size && column < size)
      c[row * size + column] = sum[r];
  }
}

__global__ void prefetch(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE + 1];
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum[ROWS] = {}, next_a[ROWS], next_b[ROWS];
  for (unsigned r = 0; r < ROWS; ++r) {
    const unsigned y = threadIdx.y + r * (TILE / ROWS);
    next_a[r] = element(a, blockIdx.y * TILE + y, threadIdx.x, size);
    next_b[r] = element(b, y, column, size);
  }
  for (unsigned first = 0; first < size; first += TILE) {
    for (unsigned r = 0; r < ROWS; ++r) {
      const unsigned y = threadIdx.y + r * (TILE / ROWS);
      tile_a[y][threadIdx.x] = next_a[r];
      tile_b[threadIdx.x][y] = next_b[r];
    }
    __syncthreads();
    for (unsigned r = 0; r < ROWS; ++r) {
      const unsigned y = threadIdx.y + r * (TILE / ROWS), next = first + TILE;
      next_a[r] = element(a, blockIdx.y * TILE + y, next + threadIdx.x, size);
      next_b[r] = element(b, next + y, column, size);
    }
    for (unsigned k = 0; k < TILE; ++k) {
      const float factor = tile_b[threadIdx.x][k];
      for (unsigned r = 0; r < ROWS; ++r)
        sum[r] += tile_a[threadIdx.y + r * (TILE / ROWS)][k] * factor;
    }
    __syncthreads();
  }
  for (unsigned r = 0; r < ROWS; ++r) {
    const unsigned row = blockIdx.y * TILE + threadIdx.y + r * (TILE / ROWS);
    if (row < size && column < size)
      c[row * size + column] = sum[r];
  }
}

__global__ void unrolled(unsigned size, const float* a, const float* b, float* c) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE + 1];
  const unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum[ROWS] = {}, next_a[ROWS], next_b[ROWS];
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) {
    const unsigned y = threadIdx.y + r * (TILE / ROWS);
    next_a[r] = element(a, blockIdx.y * TILE + y, threadIdx.x, size);
    next_b[r] = element(b, y, column, size);
  }
  for (unsigned first = 0; first < size; first += TILE) {
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r) {
      const unsigned y = threadIdx.y + r * (TILE / ROWS);
      tile_a[y][threadIdx.x] = next_a[r];
      tile_b[threadIdx.x][y] = next_b[r];
    }
    __syncthreads();
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r) {
      const unsigned y = threadIdx.y + r * (TILE / ROWS), next = first + TILE;
      next_a[r] = element(a, blockIdx.y * TILE + y, next + threadIdx.x, size);
      next_b[r] = element(b, next + y, column, size);
    }
#pragma unroll
    for (unsigned k = 0; k < TILE; ++k) {
      const float factor = tile_b[threadIdx.x][k];
#pragma unroll
      for (unsigned r = 0; r < ROWS; ++r)
        sum[r] += tile_a[threadIdx.y + r * (TILE / ROWS)][k] * factor;
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned r = 0; r < ROWS; ++r) {
    const unsigned row = blockIdx.y * TILE + threadIdx.y + r * (TILE / ROWS);
    if (row < size && column < size)
      c[row * size + column] = sum[r];
  }
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "matmul_variants: %s: %s\n", what, cudaGetErrorString(status));
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
  const long size_wanted = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 64;
  if (argc > 2 || size_wanted < 1 || size_wanted > 4096) {
    std::fprintf(stderr, "usage: matmul_variants [SIZE], from 1 to 4096\n");
    return 2;
  }
  const unsigned size = static_cast<unsigned>(size_wanted);
  const std::size_t elements = static_cast<std::size_t>(size) * size;
  std::mt19937 random(1);
  std::vector<float> host_a(elements), host_b(elements), host_c(elements);
  for (std::vector<float>* matrix : {&host_a, &host_b})
    for (float& value : *matrix)
      value = static_cast<float>(random() >> 8) / (1 << 24); // in [0, 1)
  const std::vector<double> expected = product(size, host_a, host_b);
  float* a = to_device(host_a, "a");
  float* b = to_device(host_b, "b");
  float* c = to_device(host_c, "c");

  bool all_right = true;
  const auto judge = [&](const char* kernel) {
    check(cudaGetLastError(), kernel);
    check(cudaMemcpy(host_c.data(), c, elements * sizeof(float), cudaMemcpyDeviceToHost), kernel);
    check(cudaMemset(c, 0, elements * sizeof(float)), kernel);
    bool right = true;
    for (std::size_t i = 0; i < elements; ++i)
      right &= std::abs(host_c[i] - expected[i]) <= 1e-4 * expected[i];
    std::printf("%-18s %s\n", kernel, right ? "PASS" : "FAIL");
    all_right &= right;
  };
  const dim3 blocks((size + TILE - 1) / TILE, (size + TILE - 1) / TILE);
  const dim3 an_element_each(TILE, TILE), a_column_each(TILE, TILE / ROWS);
  std::printf("matmul_variants: %u x %u\n", size, size);
  baseline<<<blocks, an_element_each>>>(size, a, b, c);
  judge("baseline");
  coalesced<<<blocks, an_element_each>>>(size, a, b, c);
  judge("coalesced");
  tiled<<<blocks, an_element_each>>>(size, a, b, c);
  judge("tiled");
  no_bank_conflict<<<blocks, an_element_each>>>(size, a, b, c);
  judge("no_bank_conflict");
  compute_optimised<<<blocks, a_column_each>>>(size, a, b, c);
  judge("compute_optimised");
  prefetch<<<blocks, a_column_each>>>(size, a, b, c);
  judge("prefetch");
  unrolled<<<blocks, a_column_each>>>(size, a, b, c);
  judge("unrolled");
  check(cudaFree(a), "a");
  check(cudaFree(b), "b");
  check(cudaFree(c), "c");
  return all_right ? 0 : 1;
}
