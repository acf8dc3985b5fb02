// Products of square matrices of floats by kernels that test the edges of the matrices: a longer ladder than
// that of products.cu. The first rows are computed with a part of the depth.
//
// Usage: edged_products VARIANT [SIZE [ROWS [DEPTH]]]    strided, coalesced, or a list of its steps: tiles,
//                                                        column, square, transposed, warps; each with /wide
//                                                        for accesses by 16 bytes; 4096, 512, 512
#include "../../accuracy/kernels/program.h"

struct Matrices {
  std::size_t rows, columns, depth; ///< the depth that is summed up
  const float *a, *b;
  float* c;
  std::size_t size; ///< the distance of the rows of each
  float alpha, beta;
};

__device__ void put(const Matrices& of, std::size_t row, std::size_t column, float sum) {
  if (row < of.rows && column < of.columns) {
    float& c = of.c[row * of.size + column];
    c = of.alpha * sum + of.beta * c;
  }
}

/// Neighbouring threads compute neighbouring rows (`COALESCED`: columns) of the product.
template <bool COALESCED> __global__ void product(Matrices of) {
  const std::size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const std::size_t row = COALESCED ? y : x, column = COALESCED ? x : y;
  if (row >= of.rows || column >= of.columns)
    return;
  float sum = 0;
  for (std::size_t k = 0; k < of.depth; ++k)
    sum += of.a[row * of.size + k] * of.b[k * of.size + column];
  put(of, row, column, sum);
}

/// Loads four elements of a row of which those at `end` and behind it become 0, as many as the program finds
/// when it runs.
__device__ float4 four_of_row(const float* row, std::size_t column, std::size_t end, bool is_row) {
  float4 four{};
  if (is_row && column < end)
    four = *reinterpret_cast<const float4*>(&row[column]);
  if (column + 4 > end) {
    float* const parts = reinterpret_cast<float*>(&four);
    for (std::size_t i = 0; i < column + 4 - end; ++i)
      parts[3 - i] = 0;
  }
  return four;
}

/// The part of the product that a block and its threads compute. `wide`: global memory is loaded by 16 bytes,
/// and shared memory where a thread reads neighbours; `transposed`: so is the tile of a; `warps`: each warp
/// computes a part of the block's rows and columns, 64 by 32.
template <int HEIGHT, int WIDTH, int DEPTH, int ROWS, int COLUMNS, bool WIDE, bool TRANSPOSED, bool WARPS>
struct Shape {
  static constexpr int height = HEIGHT, width = WIDTH, depth = DEPTH, rows = ROWS, columns = COLUMNS;
  static constexpr bool wide = WIDE, transposed = TRANSPOSED, warps = WARPS;
  static constexpr int threads = HEIGHT * WIDTH / ROWS / COLUMNS;
};

template <class S> __device__ void load_tile_of_a(const Matrices& of, std::size_t first, float* tile) {
  constexpr int each = S::wide ? 4 : 1, pieces = S::height * S::depth / each;
  constexpr int turns = (pieces + S::threads - 1) / S::threads;
  const std::size_t t = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const std::size_t piece = t + turn * S::threads;
    const std::size_t i = piece / (S::depth / each), k = piece % (S::depth / each) * each;
    const std::size_t row = blockIdx.y * S::height + i;
    if constexpr (S::wide) {
      const float4 four = four_of_row(of.a + row * of.size, first + k, of.depth, row < of.rows);
      if (i < S::height && k < S::depth) {
        if constexpr (S::transposed) {
          tile[k * S::height + i] = four.x;
          tile[(k + 1) * S::height + i] = four.y;
          tile[(k + 2) * S::height + i] = four.z;
          tile[(k + 3) * S::height + i] = four.w;
        } else {
          *reinterpret_cast<float4*>(&tile[i * S::depth + k]) = four;
        }
      }
    } else {
      const float one = row < of.rows && first + k < of.depth ? of.a[row * of.size + first + k] : 0;
      tile[S::transposed ? k * S::height + i : i * S::depth + k] = one;
    }
  }
}

template <class S> __device__ void load_tile_of_b(const Matrices& of, std::size_t first, float* tile) {
  constexpr int each = S::wide ? 4 : 1, pieces = S::width * S::depth / each;
  constexpr int turns = (pieces + S::threads - 1) / S::threads;
  const std::size_t t = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int turn = 0; turn < turns; ++turn) {
    const std::size_t piece = t + turn * S::threads;
    const std::size_t k = piece / (S::width / each), j = piece % (S::width / each) * each;
    const std::size_t row = first + k, column = blockIdx.x * S::width + j;
    if constexpr (S::wide) {
      const float4 four = four_of_row(of.b + row * of.size, column, of.columns, row < of.depth);
      if (k < S::depth && j < S::width)
        *reinterpret_cast<float4*>(&tile[k * S::width + j]) = four;
    } else {
      tile[k * S::width + j] = row < of.depth && column < of.columns ? of.b[row * of.size + column] : 0;
    }
  }
}

/// Loads `COUNT` neighbours from shared memory, by 16 bytes where they are that many.
template <int COUNT, bool WIDE> __device__ void load_neighbours(const float* from, float (&to)[COUNT]) {
  if constexpr (WIDE && COUNT % 4 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
      *reinterpret_cast<float4*>(&to[i]) = *reinterpret_cast<const float4*>(&from[i]);
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
      to[i] = from[i];
  }
}

template <class S> __global__ void product_of_tiles(Matrices of) {
  __shared__ __align__(16) float tile_of_a[S::height * S::depth];
  __shared__ __align__(16) float tile_of_b[S::depth * S::width];
  const int t = int(threadIdx.y * blockDim.x + threadIdx.x), lane = t % 32, warp = t / 32;
  const int row = S::warps ? warp / (S::width / 32) * 64 + lane / (32 / S::columns) * S::rows
                           : t / (S::width / S::columns) * S::rows;
  const int column = S::warps ? warp % (S::width / 32) * 32 + lane % (32 / S::columns) * S::columns
                              : t % (S::width / S::columns) * S::columns;
  float sums[S::rows][S::columns] = {};
  for (std::size_t first = 0; first < of.depth; first += S::depth) {
    load_tile_of_a<S>(of, first, tile_of_a);
    load_tile_of_b<S>(of, first, tile_of_b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < S::depth; ++k) {
      float left[S::rows], right[S::columns];
      if constexpr (S::transposed) {
        load_neighbours<S::rows, S::wide>(&tile_of_a[k * S::height + row], left);
      } else {
#pragma unroll
        for (int i = 0; i < S::rows; ++i)
          left[i] = tile_of_a[(row + i) * S::depth + k];
      }
      load_neighbours<S::columns, S::wide>(&tile_of_b[k * S::width + column], right);
#pragma unroll
      for (int i = 0; i < S::rows; ++i)
#pragma unroll
        for (int j = 0; j < S::columns; ++j)
          sums[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < S::rows; ++i)
#pragma unroll
    for (int j = 0; j < S::columns; ++j)
      put(of, blockIdx.y * S::height + row + i, blockIdx.x * S::width + column + j, sums[i][j]);
}

template <class S> void run(const Matrices& of) {
  const dim3 block = S::columns == 1 && S::rows == 1 ? dim3(S::width, S::height) : dim3(int(S::threads));
  product_of_tiles<S><<<dim3(of.columns / S::width, of.rows / S::height), block>>>(of);
}

int main(int count, char** values) {
  const char* variant = count > 1 ? values[1] : "strided";
  const std::size_t size = argument(count, values, 2, 4096), rows = argument(count, values, 3, 512);
  const std::size_t depth = argument(count, values, 4, 512);
  const Matrices of = {rows,
                       size,
                       depth,
                       allocate<float>(size * size),
                       allocate<float>(size * size),
                       allocate<float>(size * size),
                       size,
                       1,
                       0};
  const auto is = [&](const char* name) { return std::strcmp(variant, name) == 0; };
  if (is("strided"))
    product<false><<<dim3(rows / 32, size / 32), dim3(32, 32)>>>(of);
  else if (is("coalesced"))
    product<true><<<dim3(size / 32, rows / 32), dim3(32, 32)>>>(of);
#define VARIANT(name, ...)                                                                                   \
  else if (is(name)) run<Shape<__VA_ARGS__, false, false, false>>(of);                                       \
  else if (is(name "/wide")) run<Shape<__VA_ARGS__, true, false, false>>(of);
  VARIANT("tiles", 32, 32, 32, 1, 1)
  VARIANT("column", 64, 64, 8, 8, 1)
  VARIANT("square", 128, 128, 16, 8, 8)
#undef VARIANT
#define VARIANT(name, warps)                                                                                 \
  else if (is(name)) run<Shape<128, 128, 16, 8, 8, false, true, warps>>(of);                                 \
  else if (is(name "/wide")) run<Shape<128, 128, 16, 8, 8, true, true, warps>>(of);
  VARIANT("transposed", false)
  VARIANT("warps", true)
  else return 2;
  return finish();
}
