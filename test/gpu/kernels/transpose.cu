// Transposing a square matrix: straight, where each lane writes to another row, and by way of a tile in
// shared memory, padded so that a column's elements lie in different banks.
#include "program.h"

constexpr unsigned tile = 32, rows = 8; // rows of a tile that a block moves at a time

__global__ void transpose_naive(unsigned size, const float* in, float* out) {
  const unsigned x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  for (unsigned j = 0; j < tile; j += rows)
    out[x * size + y + j] = in[(y + j) * size + x];
}

__global__ void transpose_tiled(unsigned size, const float* in, float* out) {
  __shared__ float part[tile][tile + 1];
  const unsigned x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  for (unsigned j = 0; j < tile; j += rows)
    part[threadIdx.y + j][threadIdx.x] = in[(y + j) * size + x];
  __syncthreads();
  const unsigned out_x = blockIdx.y * tile + threadIdx.x, out_y = blockIdx.x * tile + threadIdx.y;
  for (unsigned j = 0; j < tile; j += rows)
    out[(out_y + j) * size + out_x] = part[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, tile, 16384, true);
  const unsigned size = program.size();
  reference::Random random(8);
  const auto values = random.fractions(std::size_t{size} * size);
  std::vector<float> expected(values.size());
  for (unsigned y = 0; y < size; ++y)
    for (unsigned x = 0; x < size; ++x)
      expected[x * size + y] = values[y * size + x];
  const reference::Array<float> in(values);
  reference::Array<float> out(values.size());

  const dim3 blocks(size / tile, size / tile), threads(tile, rows);
  program.measure("transpose_naive",
                  [&] { transpose_naive<<<blocks, threads>>>(size, in.data(), out.data()); });
  program.judge("transpose_naive", out.values() == expected);
  out.clear();
  program.measure("transpose_tiled",
                  [&] { transpose_tiled<<<blocks, threads>>>(size, in.data(), out.data()); });
  program.judge("transpose_tiled", out.values() == expected);
  return program.exit_code();
}
