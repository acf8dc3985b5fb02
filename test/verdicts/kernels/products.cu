// Products of matrices of 1024 × 1024 floats.
#include "kernels.h"

constexpr int size = 1024, side = 16;

// says /bound by/: many loads for little arithmetic
// never /array of structs|scattered|nothing to look at first/: rows and columns are walked in order
__global__ void naive(const float* a, const float* b, float* c) {
  const int column = blockIdx.x * side + threadIdx.x, row = blockIdx.y * side + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

// says /strided (load|store), lanes 4,096 B apart/: neighbouring lanes have neighbouring rows
// never /scattered|nothing to mend/: the roles of x and y are exchanged
__global__ void wrong_way(const float* a, const float* b, float* c) {
  const int row = blockIdx.x * side + threadIdx.x, column = blockIdx.y * side + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}

// never /poor L1 locality|poor locality|streaming|uncoalesced|scattered|bank conflicts/: each block needs its tiles, and reads them as rows
__global__ void tiled(const float* a, const float* b, float* c) {
  __shared__ float of_a[side][side], of_b[side][side];
  const int column = blockIdx.x * side + threadIdx.x, row = blockIdx.y * side + threadIdx.y;
  float sum = 0;
  for (int tile = 0; tile < size; tile += side) {
    of_a[threadIdx.y][threadIdx.x] = a[row * size + tile + threadIdx.x];
    of_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * size + column];
    __syncthreads();
    for (int k = 0; k < side; ++k)
      sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * size + column] = sum;
}

int main() {
  float *a = zeros<float>(size * size), *b = zeros<float>(size * size), *c = zeros<float>(size * size);
  const dim3 grid(size / side, size / side), block(side, side);
  naive<<<grid, block>>>(a, b, c);
  wrong_way<<<grid, block>>>(a, b, c);
  tiled<<<grid, block>>>(a, b, c);
  DONE();
}
