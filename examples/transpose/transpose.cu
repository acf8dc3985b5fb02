// Transposing a square matrix, in three versions. Rows are read coalesced in all of them; they differ in how
// columns are written:
//   transpose_naive      straight to global memory, each lane to another row;
//   transpose_conflicts  by way of a tile in shared memory: coalesced, but all lanes read a column of the
//                        tile from one bank;
//   transpose_padded     the same with one unused column, which spreads a column over different banks.
//
// Usage: transpose [SIZE]    default 1024
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <vector>

constexpr unsigned TILE = 32; // as many as a warp has lanes and shared memory has banks
constexpr unsigned ROWS = 8;  // of the tile that a block moves at a time

__global__ void transpose_naive(unsigned size, const float* in, float* out) {
  const unsigned x = blockIdx.x * TILE + threadIdx.x;
  const unsigned y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (x < size && y + j < size)
      out[x * size + (y + j)] = in[(y + j) * size + x];
}

__global__ void transpose_conflicts(unsigned size, const float* in, float* out) {
  __shared__ float tile[TILE][TILE];
  const unsigned x = blockIdx.x * TILE + threadIdx.x;
  const unsigned y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (x < size && y + j < size)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * size + x];
  __syncthreads();

  const unsigned out_x = blockIdx.y * TILE + threadIdx.x; // the block's place in the transposed matrix
  const unsigned out_y = blockIdx.x * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (out_x < size && out_y + j < size)
      out[(out_y + j) * size + out_x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_padded(unsigned size, const float* in, float* out) {
  __shared__ float tile[TILE][TILE + 1];
  const unsigned x = blockIdx.x * TILE + threadIdx.x;
  const unsigned y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (x < size && y + j < size)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * size + x];
  __syncthreads();

  const unsigned out_x = blockIdx.y * TILE + threadIdx.x;
  const unsigned out_y = blockIdx.x * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (out_x < size && out_y + j < size)
      out[(out_y + j) * size + out_x] = tile[threadIdx.x][threadIdx.y + j];
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "transpose: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

bool is_transposed(unsigned size, const std::vector<float>& in, const std::vector<float>& out) {
  for (std::size_t y = 0; y < size; ++y)
    for (std::size_t x = 0; x < size; ++x)
      if (out[x * size + y] != in[y * size + x])
        return false;
  return true;
}

int main(int argc, char** argv) {
  const long size_asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1024;
  if (argc > 2 || size_asked < 1 || size_asked > 16384) {
    std::fprintf(stderr, "usage: transpose [SIZE], from 1 to 16384\n");
    return 2;
  }
  const unsigned size = static_cast<unsigned>(size_asked);
  const std::size_t bytes = static_cast<std::size_t>(size) * size * sizeof(float);

  std::mt19937 random(5);
  std::vector<float> matrix(static_cast<std::size_t>(size) * size), result(matrix.size());
  for (float& element : matrix)
    element = static_cast<float>(random() >> 8);
  float* in = nullptr;
  float* out = nullptr;
  check(cudaMalloc(&in, bytes), "in");
  check(cudaMalloc(&out, bytes), "out");
  check(cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice), "in");

  const dim3 threads(TILE, ROWS);
  const dim3 blocks((size + TILE - 1) / TILE, (size + TILE - 1) / TILE);
  bool all_right = true;
  auto judge = [&](const char* kernel) {
    check(cudaGetLastError(), kernel);
    check(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost), kernel);
    check(cudaMemset(out, 0, bytes), kernel);
    const bool right = is_transposed(size, matrix, result);
    std::printf("%-20s %s\n", kernel, right ? "PASS" : "FAIL");
    all_right &= right;
  };
  std::printf("transpose: %u x %u\n", size, size);
  transpose_naive<<<blocks, threads>>>(size, in, out);
  judge("transpose_naive");
  transpose_conflicts<<<blocks, threads>>>(size, in, out);
  judge("transpose_conflicts");
  transpose_padded<<<blocks, threads>>>(size, in, out);
  judge("transpose_padded");
  check(cudaFree(in), "in");
  check(cudaFree(out), "out");
  return all_right ? 0 : 1;
}
