// Kernels whose arrays have better and worse places: six arrays, and columns of a tile in shared memory.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int THREADS = 256, BLOCKS = 96, TABLE = 64;

/// Reads a table by one index for all lanes and another by scattered ones.
__global__ void six_arrays(const float* uniform, const float* scattered, const int* index, const float* left,
                           const float* right, float* out) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  float sum = left[i] * right[i];
  for (int k = 0; k < TABLE; k += 4)
    sum += uniform[k] * scattered[index[i] + k];
  out[i] = sum;
}

__global__ void columns(const float* in, float* out) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int row = y; row < 32; row += THREADS / 32)
    tile[row][x] = in[(blockIdx.x * 32 + row) * 32 + x];
  __syncthreads();
  for (int row = y; row < 32; row += THREADS / 32)
    out[(blockIdx.x * 32 + row) * 32 + x] = tile[x][row];
}

int main() {
  constexpr int N = THREADS * BLOCKS;
  float *arrays[5], values[8192];
  int *index, indices[8192];
  for (int i = 0; i < 8192; ++i) {
    values[i] = float(i % 17);
    indices[i] = i * 37 % 2048;
  }
  for (float*& array : arrays) {
    cudaMalloc(&array, N * 32 * sizeof(float));
    cudaMemcpy(array, values, sizeof values, cudaMemcpyHostToDevice);
  }
  float *table, *others;
  cudaMalloc(&table, TABLE * sizeof(float));
  cudaMalloc(&others, 8192 * sizeof(float));
  cudaMalloc(&index, N * sizeof(int));
  cudaMemset(index, 0, N * sizeof(int));
  cudaMemcpy(table, values, TABLE * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(others, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy(index, indices, sizeof indices, cudaMemcpyHostToDevice);
  six_arrays<<<BLOCKS, THREADS>>>(table, others, index, arrays[0], arrays[1], arrays[2]);
  columns<<<BLOCKS, THREADS>>>(arrays[3], arrays[4]);
  float first[2];
  cudaMemcpy(&first[0], arrays[2], sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&first[1], arrays[4] + 1, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", double(first[0]), double(first[1]));
}
