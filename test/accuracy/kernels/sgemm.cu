// Products of square matrices, c = alpha × a × b + beta × c, by tiles in shared memory of which each thread
// keeps a tile of results in registers: the steps of the ladders that people climb.
//
// Usage: sgemm STEP [SIZE]    the kernel's number below; a multiple of 128
#include "program.h"

/// Whose elements a thread copies into shared memory, and how it reads them there.
enum class Copies { words, vectors };

/// Copies a word, or four that are aligned.
template <int UNIT> __device__ void copy(float* to, const float* from) {
  if constexpr (UNIT == 4)
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
  else
    *to = *from;
}

/// A block's tile of ROWS × COLUMNS results, from DEPTH columns of a and rows of b at a time. A thread has
/// HEIGHT × WIDTH neighbouring results; its warp has tiles of WARP_WIDTH columns. `TRANSPOSED`: so are the
/// elements of a in shared memory, those that a thread multiplies next to each other. `CHECKED`: the matrices
/// may end within a tile.
template <int ROWS, int COLUMNS, int DEPTH, int HEIGHT, int WIDTH, int WARP_WIDTH, bool TRANSPOSED,
          Copies COPIES, bool CHECKED>
__device__ void multiply(const float* a, const float* b, float* c, int size, float alpha, float beta) {
  constexpr int THREADS = ROWS * COLUMNS / (HEIGHT * WIDTH);
  constexpr int LANES = WARP_WIDTH / WIDTH; // of a warp, beside each other
  constexpr int WARP_HEIGHT = 32 / LANES * HEIGHT;
  constexpr int UNIT = COPIES == Copies::vectors ? 4 : 1;
  __shared__ float tile_of_a[TRANSPOSED ? DEPTH : ROWS][TRANSPOSED ? ROWS : DEPTH];
  __shared__ float tile_of_b[DEPTH][COLUMNS];
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int row = warp / (COLUMNS / WARP_WIDTH) * WARP_HEIGHT + lane / LANES * HEIGHT;
  const int column = warp % (COLUMNS / WARP_WIDTH) * WARP_WIDTH + lane % LANES * WIDTH;
  const int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS;
  float sums[HEIGHT][WIDTH] = {};
  for (int first = 0; first < size; first += DEPTH) {
#pragma unroll
    for (int i = 0; i < ROWS * DEPTH / UNIT / THREADS; ++i) {
      const int unit = thread + i * THREADS;
      const int y = unit / (DEPTH / UNIT), x = unit % (DEPTH / UNIT) * UNIT;
      float copied[UNIT] = {};
      if (!CHECKED || (first_row + y < size && first + x < size))
        copy<UNIT>(copied, &a[(first_row + y) * size + first + x]);
      if constexpr (TRANSPOSED) {
#pragma unroll
        for (int j = 0; j < UNIT; ++j)
          tile_of_a[x + j][y] = copied[j];
      } else
        copy<UNIT>(&tile_of_a[y][x], copied);
    }
#pragma unroll
    for (int i = 0; i < DEPTH * COLUMNS / UNIT / THREADS; ++i) {
      const int unit = thread + i * THREADS;
      const int y = unit / (COLUMNS / UNIT), x = unit % (COLUMNS / UNIT) * UNIT;
      float copied[UNIT] = {};
      if (!CHECKED || (first + y < size && first_column + x < size))
        copy<UNIT>(copied, &b[(first + y) * size + first_column + x]);
      copy<UNIT>(&tile_of_b[y][x], copied);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float of_a[HEIGHT], of_b[WIDTH];
#pragma unroll
      for (int i = 0; i < HEIGHT; ++i)
        of_a[i] = TRANSPOSED ? tile_of_a[k][row + i] : tile_of_a[row + i][k];
#pragma unroll
      for (int i = 0; i < WIDTH; ++i)
        of_b[i] = tile_of_b[k][column + i];
#pragma unroll
      for (int y = 0; y < HEIGHT; ++y)
#pragma unroll
        for (int x = 0; x < WIDTH; ++x)
          sums[y][x] += of_a[y] * of_b[x];
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < HEIGHT; ++y)
#pragma unroll
    for (int x = 0; x < WIDTH; x += WIDTH % UNIT == 0 ? UNIT : 1) {
      if (CHECKED && (first_row + row + y >= size || first_column + column + x >= size))
        continue;
      float* const result = &c[(first_row + row + y) * size + first_column + column + x];
      if constexpr (UNIT == 4 && WIDTH % 4 == 0) {
        float4 before = *reinterpret_cast<float4*>(result);
        before.x = alpha * sums[y][x] + beta * before.x;
        before.y = alpha * sums[y][x + 1] + beta * before.y;
        before.z = alpha * sums[y][x + 2] + beta * before.z;
        before.w = alpha * sums[y][x + 3] + beta * before.w;
        *reinterpret_cast<float4*>(result) = before;
      } else
        *result = alpha * sums[y][x] + beta * *result;
    }
}

constexpr int SIZE = 4096;

/// Defines a kernel with a name of its own, so that the program's others need not be traced.
#define KERNEL(NAME, ROWS, COLUMNS, DEPTH, HEIGHT, WIDTH, WARP_WIDTH, TRANSPOSED, COPIES, CHECKED)           \
  __global__ void NAME(const float* a, const float* b, float* c, int size, float alpha, float beta) {        \
    multiply<ROWS, COLUMNS, DEPTH, HEIGHT, WIDTH, WARP_WIDTH, TRANSPOSED, Copies::COPIES, CHECKED>(          \
        a, b, c, size, alpha, beta);                                                                         \
  }

KERNEL(columns_of_eight, 64, 64, 8, 8, 1, 32, false, words, true)
KERNEL(squares_of_eight, 128, 128, 16, 8, 8, 128, false, words, true)
KERNEL(squares_by_vectors, 128, 128, 16, 8, 8, 128, false, vectors, true)
KERNEL(transposed_squares, 128, 128, 16, 8, 8, 128, true, words, true)
KERNEL(transposed_by_vectors, 128, 128, 16, 8, 8, 128, true, vectors, true)
KERNEL(tiles_of_warps, 128, 128, 16, 8, 8, 32, true, words, true)
KERNEL(tiles_of_warps_by_vectors, 128, 128, 16, 8, 8, 32, true, vectors, true)
KERNEL(small_squares, 64, 64, 8, 8, 8, 64, false, words, false)
KERNEL(shallow_squares, 128, 128, 8, 8, 8, 128, false, words, false)
KERNEL(shallow_by_vectors, 128, 128, 8, 8, 8, 128, true, vectors, false)

__device__ void multiply_element(const float* a, const float* b, float* c, int size, float alpha, float beta,
                                 int row, int column) {
  if (row >= size || column >= size)
    return;
  float sum = 0;
  for (int k = 0; k < size; ++k)
    sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = alpha * sum + beta * c[row * size + column];
}

/// Neighbouring threads have neighbouring rows, so each lane loads from and stores to another line.
__global__ void neighbours_by_rows(const float* a, const float* b, float* c, int size, float alpha,
                                   float beta) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  multiply_element(a, b, c, size, alpha, beta, row, column);
}

__global__ void neighbours_by_columns(const float* a, const float* b, float* c, int size, float alpha,
                                      float beta) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  multiply_element(a, b, c, size, alpha, beta, row, column);
}

/// A block's threads have an element each of the tiles, and PER_THREAD of the result, TILE rows apart. With
/// PADDING the compiler cannot join the words of a: some measured code loads each alone, as counters say.
template <int TILE, int PER_THREAD, int PADDING>
__device__ void multiply_tiles(const float* a, const float* b, float* c, int size, float alpha, float beta) {
  __shared__ float tile_of_a[TILE * PER_THREAD][TILE + PADDING], tile_of_b[TILE][TILE];
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int row = blockIdx.y * TILE * PER_THREAD + threadIdx.y;
  float sums[PER_THREAD] = {};
  for (int first = 0; first < size; first += TILE) {
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i)
      tile_of_a[i * TILE + threadIdx.y][threadIdx.x] = a[(row + i * TILE) * size + first + threadIdx.x];
    tile_of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) {
      const float of_b = tile_of_b[k][threadIdx.x];
#pragma unroll
      for (int i = 0; i < PER_THREAD; ++i)
        sums[i] += tile_of_a[i * TILE + threadIdx.y][k] * of_b;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i) {
    float& result = c[(row + i * TILE) * size + column];
    result = alpha * sums[i] + beta * result;
  }
}

__global__ void one_for_each(const float* a, const float* b, float* c, int size, float alpha, float beta) {
  multiply_tiles<32, 1, 0>(a, b, c, size, alpha, beta);
}

__global__ void word_by_word(const float* a, const float* b, float* c, int size, float alpha, float beta) {
  multiply_tiles<32, 1, 1>(a, b, c, size, alpha, beta);
}

__global__ void narrow_columns(const float* a, const float* b, float* c, int size, float alpha, float beta) {
  multiply_tiles<16, 8, 1>(a, b, c, size, alpha, beta);
}

int main(int count, char** values) {
  struct Step {
    void (*kernel)(const float*, const float*, float*, int, float, float);
    int rows, columns;
    dim3 threads;
  };
  const Step steps[] = {
      {columns_of_eight, 64, 64, 512},
      {squares_of_eight, 128, 128, 256},
      {squares_by_vectors, 128, 128, 256},
      {transposed_squares, 128, 128, 256},
      {transposed_by_vectors, 128, 128, 256},
      {tiles_of_warps, 128, 128, 256},
      {tiles_of_warps_by_vectors, 128, 128, 256},
      {small_squares, 64, 64, 64},
      {shallow_squares, 128, 128, 256},
      {shallow_by_vectors, 128, 128, 256},
      {narrow_columns, 128, 16, {16, 16}},
      {neighbours_by_rows, 32, 32, {32, 32}},
      {neighbours_by_columns, 32, 32, {32, 32}},
      {one_for_each, 32, 32, {32, 32}},
      {word_by_word, 32, 32, {32, 32}},
  };
  const unsigned number = argument(count, values, 1, 0), size = argument(count, values, 2, SIZE);
  if (number >= sizeof steps / sizeof *steps)
    return 1;
  const std::size_t elements = std::size_t(size) * size;
  const float *a = allocate<float>(elements), *b = allocate<float>(elements);
  float* c = allocate<float>(elements);
  const Step& step = steps[number];
  step.kernel<<<dim3(size / step.columns, size / step.rows), step.threads>>>(a, b, c, size, 1, 0);
  return finish();
}
