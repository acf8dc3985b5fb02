// Transposes of a matrix of 4096 × 4096 floats.
#include "kernels.h"

constexpr int size = 4096;

// says /strided store, lanes 16,384 B apart: 32\.0 sectors per request where 4\.00 would do/: a warp writes a column
// says /stage them through a tile in shared memory/: both sides can be rows then
// never /scattered|at addresses that were loaded|nothing to mend/: no address was loaded
__global__ void write_columns(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * size + y] = in[y * size + x];
}

// says /strided load, lanes 16,384 B apart/: a warp reads a column
// never /scattered|nothing to mend/: no address was loaded
__global__ void read_columns(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * size + x] = in[x * size + y];
}

// says /bank conflicts: 31\.0 extra passes per request, lanes 128 B apart: pad each row by an element/: a column of the tile lies in one bank
// never /strided|uncoalesced|poor L1 locality/: both sides are rows
__global__ void tiled(const float* in, float* out) {
  __shared__ float tile[32][32];
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x] = in[(blockIdx.y * 32 + row) * size + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[(blockIdx.x * 32 + row) * size + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

// says /bound by +DRAM/: 134 MB have to move
// never /bank conflicts|strided|uncoalesced|poor/: rows of 33 fall into all banks
__global__ void padded(const float* in, float* out) {
  __shared__ float tile[32][33];
  for (int row = threadIdx.y; row < 32; row += 8)
    tile[row][threadIdx.x] = in[(blockIdx.y * 32 + row) * size + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 8)
    out[(blockIdx.x * 32 + row) * size + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

int main() {
  float *in = zeros<float>(size * size), *out = zeros<float>(size * size);
  const dim3 grid(size / 32, size / 8), tiles(size / 32, size / 32), block(32, 8);
  write_columns<<<grid, block>>>(in, out);
  read_columns<<<grid, block>>>(in, out);
  tiled<<<tiles, block>>>(in, out);
  padded<<<tiles, block>>>(in, out);
  DONE();
}
