// Kernels with something to improve, and each with a change made by hand, as `warplens advise` suggests it:
// NAME and NAME_changed do the same work. sample.py holds the suggestions against the changed kernels.
//
// Usage: sample
#include "../../accuracy/kernels/program.h"

#include <cuda_fp16.h>

constexpr int SIZE = 1024, TILE = 32;

/// Columns are stored; changed: through a tile with padded rows.
__global__ void transpose(const float* in, float* out) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8)
    out[x * SIZE + y + j] = in[(y + j) * SIZE + x];
}
__global__ void transpose_changed(const float* in, float* out) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * SIZE + x];
  __syncthreads();
  for (int j = 0; j < TILE; j += 8)
    out[(blockIdx.x * TILE + threadIdx.y + j) * SIZE + blockIdx.y * TILE + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y + j];
}

/// A tile's columns are in one bank; changed: its rows are an element longer.
template <int PADDING> __device__ void transpose_by_tile(const float* in, float* out) {
  __shared__ float tile[TILE][TILE + PADDING];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8)
    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * SIZE + x];
  __syncthreads();
  for (int j = 0; j < TILE; j += 8)
    out[(blockIdx.x * TILE + threadIdx.y + j) * SIZE + blockIdx.y * TILE + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y + j];
}
__global__ void banks(const float* in, float* out) {
  transpose_by_tile<0>(in, out);
}
__global__ void banks_changed(const float* in, float* out) {
  transpose_by_tile<1>(in, out);
}

/// One member of structures is read; changed: the members are arrays.
struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void masses(const Particle* particles, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * particles[i].mass;
}
__global__ void masses_changed(const float* mass, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * mass[i];
}

/// All threads add to a few counters; changed: to those of their block.
constexpr int BINS = 64;
__global__ void count(const int* keys, int* counters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&counters[keys[i] & (BINS - 1)], 1);
}
__global__ void count_changed(const int* keys, int* counters) {
  __shared__ int of_block[BINS];
  if (threadIdx.x < BINS)
    of_block[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&of_block[keys[i] & (BINS - 1)], 1);
  __syncthreads();
  if (threadIdx.x < BINS)
    atomicAdd(&counters[threadIdx.x], of_block[threadIdx.x]);
}

/// Lanes step by rows; changed: x and y of the threads are exchanged.
__global__ void scale(float* matrix) {
  const int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
  matrix[row * SIZE + column] *= 2;
}
__global__ void scale_changed(float* matrix) {
  const int row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 8 + threadIdx.x;
  matrix[row * SIZE + column] *= 2;
}

/// Each thread adds up a row; changed: the rows come through tiles, which neighbouring threads copy.
__global__ void sum_rows(const float* rows, float* sums) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 256; ++k)
    sum += rows[row * 256 + k];
  sums[row] = sum;
}
__global__ void sum_rows_changed(const float* rows, float* sums) {
  __shared__ float tile[128][TILE + 1];
  float sum = 0;
  for (int first = 0; first < 256; first += TILE) {
    for (int i = threadIdx.x / TILE; i < 128; i += 4)
      tile[i][threadIdx.x % TILE] = rows[(blockIdx.x * 128 + i) * 256 + first + threadIdx.x % TILE];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += tile[threadIdx.x][k];
    __syncthreads();
  }
  sums[blockIdx.x * 128 + threadIdx.x] = sum;
}

/// Blocks of one warp leave most of an SM empty; changed: blocks of four.
__device__ void chain(const float* in, float* out, int i) {
  float value = in[i];
  for (int k = 0; k < 64; ++k)
    value = value * 1.0001f + 0.5f;
  out[i] = value;
}
__global__ void small_blocks(const float* in, float* out) {
  chain(in, out, blockIdx.x * blockDim.x + threadIdx.x);
}
__global__ void small_blocks_changed(const float* in, float* out) {
  chain(in, out, blockIdx.x * blockDim.x + threadIdx.x);
}

/// Shared memory that nothing shares limits the blocks of an SM; changed: it is in registers.
__global__ void needless_shared(const float* in, float* out) {
  __shared__ float mine[64 * 96];
  for (int k = 0; k < 96; ++k)
    mine[k * 64 + threadIdx.x] = in[(blockIdx.x * 96 + k) * 64 + threadIdx.x];
  float sum = 0;
  for (int k = 0; k < 96; ++k)
    sum += mine[k * 64 + threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
__global__ void needless_shared_changed(const float* in, float* out, float* mine) {
  mine += blockIdx.x * 96 * 64;
  for (int k = 0; k < 96; ++k)
    mine[k * 64 + threadIdx.x] = in[(blockIdx.x * 96 + k) * 64 + threadIdx.x];
  float sum = 0;
  for (int k = 0; k < 96; ++k)
    sum += mine[k * 64 + threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

/// A window of 33 words; changed: the block keeps what its threads share.
__global__ void window(const float* in, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 33; ++k)
    sum += in[i + k];
  out[i] = sum;
}
__global__ void window_changed(const float* in, float* out) {
  __shared__ float part[256 + 32];
  for (int k = threadIdx.x; k < 256 + 32; k += 256)
    part[k] = in[blockIdx.x * 256 + k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 33; ++k)
    sum += part[threadIdx.x + k];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

/// A small table that all threads read alike; changed: it is in constant memory.
__constant__ float coefficients[64];
__global__ void polynomial(const float* table, const float* in, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 64; ++k)
    sum = sum * in[i] + table[k];
  out[i] = sum;
}
__global__ void polynomial_changed(const float* in, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 64; ++k)
    sum = sum * in[i] + coefficients[k];
  out[i] = sum;
}

/// A table that lanes read here and there; on a K80 its own cache helps. Changed: by __ldg().
__global__ void gather(const float* table, const int* index, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k)
    sum += table[(index[i] + k * 37) & 2047];
  out[i] = sum;
}
__global__ void gather_changed(const float* table, const int* index, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k)
    sum += __ldg(&table[(index[i] + k * 37) & 2047]);
  out[i] = sum;
}

/// Columns are stored by blocks of few threads' work; changed: each thread has four elements.
__global__ void copy_each(const float* in, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i] * 2;
}
__global__ void copy_each_changed(const float4* in, float4* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 four = in[i];
  out[i] = {four.x * 2, four.y * 2, four.z * 2, four.w * 2};
}

/// Columns are loaded; changed: through a tile with padded rows.
__global__ void read_columns(const float* in, float* out) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8)
    out[(y + j) * SIZE + x] = 2 * in[x * SIZE + y + j];
}
__global__ void read_columns_changed(const float* in, float* out) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8)
    tile[threadIdx.y + j][threadIdx.x] =
        in[(blockIdx.x * TILE + threadIdx.y + j) * SIZE + blockIdx.y * TILE + threadIdx.x];
  __syncthreads();
  for (int j = 0; j < TILE; j += 8)
    out[(y + j) * SIZE + x] = 2 * tile[threadIdx.x][threadIdx.y + j];
}

/// All threads add to one word; changed: to their block's.
__global__ void sum_all(const int* in, int* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 3 != 0)
    atomicMax(&sum[in[i] & 1], in[i]);
}
__global__ void sum_all_changed(const int* in, int* sum) {
  __shared__ int of_block[2];
  if (threadIdx.x < 2)
    of_block[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 3 != 0)
    atomicMax(&of_block[in[i] & 1], in[i]);
  __syncthreads();
  if (threadIdx.x < 2)
    atomicMax(&sum[threadIdx.x], of_block[threadIdx.x]);
}

/// Members of structures are stored; changed: the member is an array.
__global__ void charge_all(Particle* particles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  particles[i].charge = float(i);
}
__global__ void charge_all_changed(float* charge) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  charge[i] = float(i);
}

/// A tile of doubles whose columns share banks; changed: its rows are an element longer.
template <int PADDING> __device__ void turn_tile(const double* in, double* out) {
  __shared__ double tile[16][16 + PADDING];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * SIZE + x];
  __syncthreads();
  double sum = 0;
#pragma unroll 1
  for (int k = 0; k < 16; ++k)
    sum += tile[threadIdx.x][(threadIdx.y + k) % 16];
  out[y * SIZE + x] = sum;
}
__global__ void turn(const double* in, double* out) {
  turn_tile<0>(in, out);
}
__global__ void turn_changed(const double* in, double* out) {
  turn_tile<1>(in, out);
}

/// A stream that DRAM bounds; changed: its elements have half the bytes.
__global__ void stream(const float* in, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i] * in[i + 1] + 1;
}
__global__ void stream_changed(const __half* in, float* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = __half2float(in[i]) * __half2float(in[i + 1]) + 1;
}

/// Lanes of 16 step by rows; changed: x and y of the threads are exchanged.
__global__ void add_rows(const float* a, const float* b, float* c) {
  const int row = blockIdx.x * 16 + threadIdx.x, column = blockIdx.y * 16 + threadIdx.y;
  c[row * SIZE + column] = a[row * SIZE + column] + b[row * SIZE + column];
}
__global__ void add_rows_changed(const float* a, const float* b, float* c) {
  const int row = blockIdx.x * 16 + threadIdx.y, column = blockIdx.y * 16 + threadIdx.x;
  c[row * SIZE + column] = a[row * SIZE + column] + b[row * SIZE + column];
}

/// A convolution whose rows the L1 holds; changed: through a tile in shared memory with its edges. Others
/// measured the tile as 0.84 times as fast, on an A100.
constexpr int EDGE = 2, OUT = SIZE - 2 * EDGE;
__constant__ float weights[2 * EDGE + 1][2 * EDGE + 1];
__global__ void convolve(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= OUT || y >= OUT)
    return;
  float sum = 0;
  for (int i = 0; i <= 2 * EDGE; ++i)
    for (int j = 0; j <= 2 * EDGE; ++j)
      sum += weights[i][j] * in[(y + i) * SIZE + x + j];
  out[y * SIZE + x] = sum;
}
__global__ void convolve_changed(const float* in, float* out) {
  __shared__ float tile[8 + 2 * EDGE][32 + 2 * EDGE];
  const int first_x = blockIdx.x * 32, first_y = blockIdx.y * 8;
  for (int y = threadIdx.y; y < 8 + 2 * EDGE; y += 8)
    for (int x = threadIdx.x; x < 32 + 2 * EDGE; x += 32)
      if (first_x + x < SIZE && first_y + y < SIZE)
        tile[y][x] = in[(first_y + y) * SIZE + first_x + x];
  __syncthreads();
  const int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
  if (x >= OUT || y >= OUT)
    return;
  float sum = 0;
  for (int i = 0; i <= 2 * EDGE; ++i)
    for (int j = 0; j <= 2 * EDGE; ++j)
      sum += weights[i][j] * tile[threadIdx.y + i][threadIdx.x + j];
  out[y * SIZE + x] = sum;
}

/// A product of matrices by tiles of 32 x 32; changed: of 16 x 16, which others measured as 0.89 times as
/// fast, on an A100.
template <int WIDTH> __device__ void multiply_tiles(const float* a, const float* b, float* c) {
  __shared__ float of_a[WIDTH][WIDTH], of_b[WIDTH][WIDTH];
  const int row = blockIdx.y * WIDTH + threadIdx.y, column = blockIdx.x * WIDTH + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < SIZE / 4; first += WIDTH) {
    of_a[threadIdx.y][threadIdx.x] = a[row * SIZE + first + threadIdx.x];
    of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * SIZE + column];
    __syncthreads();
    for (int k = 0; k < WIDTH; ++k)
      sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * SIZE + column] = sum;
}
__global__ void multiply(const float* a, const float* b, float* c) {
  multiply_tiles<32>(a, b, c);
}
__global__ void multiply_changed(const float* a, const float* b, float* c) {
  multiply_tiles<16>(a, b, c);
}

int main() {
  constexpr int N = SIZE * SIZE;
  const auto floats = [](int count) { return allocate<float>(std::size_t(count)); };
  std::vector<int> keys(N);
  for (int i = 0; i < N; ++i)
    keys[i] = int((unsigned(i) * 7919 + i / 31) % 2048);
  int* const index = copy_of(keys);
  const dim3 tiles(SIZE / TILE, SIZE / TILE), of_tile(TILE, 8);
  transpose<<<tiles, of_tile>>>(floats(N), floats(N));
  transpose_changed<<<tiles, of_tile>>>(floats(N), floats(N));
  banks<<<tiles, of_tile>>>(floats(N), floats(N));
  banks_changed<<<tiles, of_tile>>>(floats(N), floats(N));
  masses<<<N / 256, 256>>>(allocate<Particle>(N), floats(N));
  masses_changed<<<N / 256, 256>>>(floats(N), floats(N));
  count<<<N / 256, 256>>>(index, allocate<int>(BINS));
  count_changed<<<N / 256, 256>>>(index, allocate<int>(BINS));
  scale<<<dim3(SIZE / 32, SIZE / 8), dim3(32, 8)>>>(floats(N));
  scale_changed<<<dim3(SIZE / 32, SIZE / 8), dim3(8, 32)>>>(floats(N));
  sum_rows<<<N / 256 / 128, 128>>>(floats(N), floats(N / 256));
  sum_rows_changed<<<N / 256 / 128, 128>>>(floats(N), floats(N / 256));
  small_blocks<<<N / 32, 32>>>(floats(N), floats(N));
  small_blocks_changed<<<N / 128, 128>>>(floats(N), floats(N));
  needless_shared<<<512, 64>>>(floats(512 * 96 * 64), floats(512 * 64));
  needless_shared_changed<<<512, 64>>>(floats(512 * 96 * 64), floats(512 * 64), floats(512 * 96 * 64));
  window<<<N / 1024, 256>>>(floats(N), floats(N));
  window_changed<<<N / 1024, 256>>>(floats(N), floats(N));
  polynomial<<<N / 1024, 256>>>(floats(64), floats(N), floats(N));
  polynomial_changed<<<N / 1024, 256>>>(floats(N), floats(N));
  gather<<<N / 1024, 256>>>(floats(2048), index, floats(N));
  gather_changed<<<N / 1024, 256>>>(floats(2048), index, floats(N));
  copy_each<<<N / 256, 256>>>(floats(N), floats(N));
  copy_each_changed<<<N / 256, 64>>>(reinterpret_cast<float4*>(floats(N)),
                                     reinterpret_cast<float4*>(floats(N)));
  read_columns<<<tiles, of_tile>>>(floats(N), floats(N));
  read_columns_changed<<<tiles, of_tile>>>(floats(N), floats(N));
  sum_all<<<N / 256, 256>>>(index, allocate<int>(2));
  sum_all_changed<<<N / 256, 256>>>(index, allocate<int>(2));
  charge_all<<<N / 256, 256>>>(allocate<Particle>(N));
  charge_all_changed<<<N / 256, 256>>>(floats(N));
  const dim3 of_16(16, 16), by_16(SIZE / 16, SIZE / 16);
  turn<<<by_16, of_16>>>(allocate<double>(N), allocate<double>(N));
  turn_changed<<<by_16, of_16>>>(allocate<double>(N), allocate<double>(N));
  stream<<<N / 64, 256>>>(floats(4 * N + 1), floats(4 * N));
  stream_changed<<<N / 64, 256>>>(allocate<__half>(4 * N + 1), floats(4 * N));
  add_rows<<<by_16, of_16>>>(floats(N), floats(N), floats(N));
  add_rows_changed<<<by_16, of_16>>>(floats(N), floats(N), floats(N));
  convolve<<<dim3(SIZE / 32, SIZE / 8), dim3(32, 8)>>>(floats(N), floats(N));
  convolve_changed<<<dim3(SIZE / 32, SIZE / 8), dim3(32, 8)>>>(floats(N), floats(N));
  multiply<<<tiles, dim3(32, 32)>>>(floats(N), floats(N), floats(N));
  multiply_changed<<<by_16, of_16>>>(floats(N), floats(N), floats(N));
  return finish();
}
