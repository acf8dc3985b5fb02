// Products of square matrices of 16-bit numbers on tensor cores, c = a × b, with sums of single precision: a
// ladder of halves from elements that lanes collect one by one to copies in the background, and one of BF16
// in larger tiles.
//
// Usage: tensor_products STEP [DEPTH]    of 4096, of sides of 4096
//   0  halves, tiles of 32 × 32, elements one by one
//   1  halves, tiles of 64 × 64, matrices loaded from lines without bank conflicts
//   2  halves, the same with three stages of copies in the background
//   3  BF16, tiles of 128 × 128 by four warps, copied through registers
//   4  BF16, copied in the background, rows padded
//   5  BF16, copied in the background, chunks of rows exchanged, two fragments of b in a load
#include "program.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2], half) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                             __nv_bfloat16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Loads matrices of 8 × 8 halves; each lane has the address of a row.
__device__ void load_four(unsigned (&words)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address));
}

__device__ void load_two(unsigned (&words)[2], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(words[0]), "=r"(words[1])
               : "r"(address));
}

__device__ void copy_in_background(unsigned address, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(address), "l"(from) : "memory");
}

__device__ void end_group() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

template <int groups> __device__ void wait_for_all_but() {
  asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory");
}

/// Both matrices are stored by rows. Warps are arranged in two rows of four, each with 16 × 8 sums of a tile.
__global__ void __launch_bounds__(256)
    product_of_elements(const half* a, const half* b, float* c, int size, int depth_end) {
  __shared__ half tile_of_a[32][16], tile_of_b[16][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int thread = y * 16 + x, warp = thread / 32, lane = thread % 32;
  const int row = warp / 4 * 16 + lane / 4, column = warp % 4 * 8 + lane / 4, pair = lane % 4 * 2;
  const int first_row = blockIdx.y * 32, first_column = blockIdx.x * 32;
  float sums[4] = {};
  for (int k = 0; k < depth_end; k += 16) {
    tile_of_a[y][x] = a[(first_row + y) * size + k + x];
    tile_of_a[y + 16][x] = a[(first_row + y + 16) * size + k + x];
    tile_of_b[y][x] = b[(k + y) * size + first_column + x];
    tile_of_b[y][x + 16] = b[(k + y) * size + first_column + x + 16];
    __syncthreads();
    half of_a[8], of_b[4];
    for (int i = 0; i < 8; ++i)
      of_a[i] = tile_of_a[row + i / 2 % 2 * 8][pair + i % 2 + i / 4 * 8];
    for (int i = 0; i < 4; ++i)
      of_b[i] = tile_of_b[pair + i % 2 + i / 2 * 8][column];
    multiply_add(sums, reinterpret_cast<const unsigned(&)[4]>(of_a),
                 reinterpret_cast<const unsigned(&)[2]>(of_b), half());
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    c[(first_row + row + i / 2 * 8) * size + first_column + warp % 4 * 8 + pair + i % 2] = sums[i];
}

/// A line of 128 bytes has two rows of 32 halves of a tile, in chunks of 8. Chunks are exchanged so that
/// eight rows' chunks of one depth lie in different banks.
__device__ int place_of(int row, int chunk) {
  const int line = row / 2;
  return line * 8 + ((row % 2 * 4 + chunk) ^ line % 4);
}

constexpr int ROWS = 64, CHUNKS = ROWS * 4; // of a tile

/// Stores a warp's 32 × 16 sums as pairs.
__device__ void store_pairs(float* c, const float (&sums)[2][2][4], int row, int column, int size) {
  const int lane = threadIdx.y % 2 * 16 + threadIdx.x;
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 2; ++n)
      for (int i = 0; i < 2; ++i) {
        float* to = c + (row + m * 16 + lane / 4 + i * 8) * size + column + n * 8 + lane % 4 * 2;
        *reinterpret_cast<float2*>(to) = {sums[m][n][2 * i], sums[m][n][2 * i + 1]};
      }
}

/// The matrix b is stored by columns, as in all that follow. Both fragments are loaded for each product.
__global__ void __launch_bounds__(256)
    product_of_matrices(const half* a, const half* b, float* c, int size, int depth_end) {
  __shared__ uint4 tile_of_a[CHUNKS], tile_of_b[CHUNKS];
  const int thread = threadIdx.y * 16 + threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * ROWS;
  const int row = warp / 4 * 32, column = warp % 4 * 16;
  const uint4* from_a = reinterpret_cast<const uint4*>(a + (first_row + thread / 4) * size) + thread % 4;
  const uint4* from_b = reinterpret_cast<const uint4*>(b + (first_column + thread / 4) * size) + thread % 4;
  float sums[2][2][4] = {};
  for (int k = 0; k < depth_end / 8; k += 4) {
    tile_of_a[place_of(thread / 4, thread % 4)] = from_a[k];
    tile_of_b[place_of(thread / 4, thread % 4)] = from_b[k];
    __syncthreads();
    for (int m = 0; m < 2; ++m)
      for (int n = 0; n < 2; ++n)
        for (int depth = 0; depth < 2; ++depth) {
          unsigned of_a[4], of_b[2];
          load_four(of_a, address_of(tile_of_a + place_of(row + m * 16 + lane % 16, depth * 2 + lane / 16)));
          load_two(of_b,
                   address_of(tile_of_b + place_of(column + n * 8 + lane % 8, depth * 2 + lane / 8 % 2)));
          multiply_add(sums[m][n], of_a, of_b, half());
        }
    __syncthreads();
  }
  store_pairs(c, sums, first_row + row, first_column + column, size);
}

/// Two stages are on their way while one is multiplied; its fragments are loaded before the next copy begins.
__global__ void __launch_bounds__(256)
    product_in_stages(const half* a, const half* b, float* c, int size, int depth_end) {
  constexpr int stages = 3;
  __shared__ uint4 tiles_of_a[stages][CHUNKS], tiles_of_b[stages][CHUNKS];
  const int thread = threadIdx.y * 16 + threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * ROWS;
  const int row = warp / 4 * 32, column = warp % 4 * 16;
  const uint4* from_a = reinterpret_cast<const uint4*>(a + (first_row + thread / 4) * size) + thread % 4;
  const uint4* from_b = reinterpret_cast<const uint4*>(b + (first_column + thread / 4) * size) + thread % 4;
  const int to = place_of(thread / 4, thread % 4);
  const int steps = depth_end / 32;
  for (int stage = 0; stage < stages - 1; ++stage) {
    copy_in_background(address_of(tiles_of_a[stage] + to), from_a + stage * 4);
    copy_in_background(address_of(tiles_of_b[stage] + to), from_b + stage * 4);
    end_group();
  }
  float sums[2][2][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait_for_all_but<stages - 2>();
    __syncthreads();
    const uint4 *tile_of_a = tiles_of_a[step % stages], *tile_of_b = tiles_of_b[step % stages];
    unsigned of_a[2][2][4], of_b[2][2][2];
    for (int m = 0; m < 2; ++m)
      for (int depth = 0; depth < 2; ++depth)
        load_four(of_a[m][depth],
                  address_of(tile_of_a + place_of(row + m * 16 + lane % 16, depth * 2 + lane / 16)));
    for (int n = 0; n < 2; ++n)
      for (int depth = 0; depth < 2; ++depth)
        load_two(of_b[n][depth],
                 address_of(tile_of_b + place_of(column + n * 8 + lane % 8, depth * 2 + lane / 8 % 2)));
    const int next = step + stages - 1, from = min(next, steps - 1) * 4;
    copy_in_background(address_of(tiles_of_a[next % stages] + to), from_a + from);
    copy_in_background(address_of(tiles_of_b[next % stages] + to), from_b + from);
    end_group();
    for (int m = 0; m < 2; ++m)
      for (int n = 0; n < 2; ++n)
        for (int depth = 0; depth < 2; ++depth)
          multiply_add(sums[m][n], of_a[m][depth], of_b[n][depth], half());
  }
  store_pairs(c, sums, first_row + row, first_column + column, size);
}

constexpr int SIDE = 128, DEPTH = 64; // of a block's tile and its factors'

enum class Copies { THROUGH_REGISTERS, IN_BACKGROUND, EXCHANGED };

/// Returns the offset in bytes of a chunk of 8 numbers of a tile's row. Exchanged chunks of eight rows lie in
/// different banks.
template <Copies copies, int stride> __device__ unsigned offset_of(int row, int chunk) {
  return (row * stride + (copies == Copies::EXCHANGED ? chunk ^ row % 8 : chunk) * 8) * sizeof(__nv_bfloat16);
}

template <Copies copies, int stride>
__device__ void copy_tile(unsigned to, char* memory, const __nv_bfloat16* from, int size) {
#pragma unroll
  for (int i = 0; i < SIDE * DEPTH / 8 / 128; ++i) {
    const int chunk = i * 128 + threadIdx.x, row = chunk / (DEPTH / 8), column = chunk % (DEPTH / 8);
    const unsigned offset = offset_of<copies, stride>(row, column);
    const __nv_bfloat16* source = from + row * size + column * 8;
    if (copies == Copies::THROUGH_REGISTERS)
      *reinterpret_cast<uint4*>(memory + offset) = *reinterpret_cast<const uint4*>(source);
    else
      copy_in_background(to + offset, source);
  }
}

/// Four warps have 64 × 64 sums each. Two fragments of b are loaded at once where chunks are exchanged.
template <Copies copies, int stride>
__global__ void __launch_bounds__(128) product_of_tiles(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                                        __nv_bfloat16* c, int size, int depth_end) {
  extern __shared__ __align__(128) char memory[];
  constexpr unsigned tile_bytes = SIDE * stride * sizeof(__nv_bfloat16);
  const unsigned tile_of_a = address_of(memory), tile_of_b = tile_of_a + tile_bytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = size / SIDE;
  const int first_row = blockIdx.x / tiles * SIDE, first_column = blockIdx.x % tiles * SIDE;
  const int row = warp / 2 * 64, column = warp % 2 * 64;
  a += first_row * size;
  b += first_column * size;
  float sums[4][8][4] = {};
  for (int k = 0; k < depth_end; k += DEPTH) {
    copy_tile<copies, stride>(tile_of_a, memory, a + k, size);
    copy_tile<copies, stride>(tile_of_b, memory + tile_bytes, b + k, size);
    if (copies != Copies::THROUGH_REGISTERS) {
      end_group();
      wait_for_all_but<0>();
    }
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < DEPTH / 8; depth += 2) {
      unsigned of_b[8][2];
#pragma unroll
      for (int n = 0; n < 8; n += copies == Copies::EXCHANGED ? 2 : 1)
        if (copies == Copies::EXCHANGED) {
          const int of_lane = column + n * 8 + lane % 8 + lane / 16 * 8;
          unsigned both[4];
          load_four(both, tile_of_b + offset_of<copies, stride>(of_lane, depth + lane / 8 % 2));
          of_b[n][0] = both[0], of_b[n][1] = both[1], of_b[n + 1][0] = both[2], of_b[n + 1][1] = both[3];
        } else {
          const int of_lane = column + n * 8 + lane % 8;
          load_two(of_b[n], tile_of_b + offset_of<copies, stride>(of_lane, depth + lane / 8 % 2));
        }
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        unsigned of_a[4];
        load_four(of_a, tile_of_a + offset_of<copies, stride>(row + m * 16 + lane % 16, depth + lane / 16));
#pragma unroll
        for (int n = 0; n < 8; ++n)
          multiply_add(sums[m][n], of_a, of_b[n], __nv_bfloat16());
      }
    }
    __syncthreads();
  }
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n < 8; ++n)
      for (int i = 0; i < 2; ++i) {
        __nv_bfloat16* to = c + (first_row + row + m * 16 + lane / 4 + i * 8) * size + first_column + column +
                            n * 8 + lane % 4 * 2;
        *reinterpret_cast<__nv_bfloat162*>(to) =
            __float22bfloat162_rn({sums[m][n][2 * i], sums[m][n][2 * i + 1]});
      }
}

constexpr int SIZE = 4096;
constexpr std::size_t ELEMENTS = std::size_t(SIZE) * SIZE;

template <Copies copies, int stride> int run_tiles(int depth) {
  const __nv_bfloat16 *a = allocate<__nv_bfloat16>(ELEMENTS), *b = allocate<__nv_bfloat16>(ELEMENTS);
  __nv_bfloat16* c = allocate<__nv_bfloat16>(ELEMENTS);
  product_of_tiles<copies, stride>
      <<<(SIZE / SIDE) * (SIZE / SIDE), 128, 2 * SIDE * stride * sizeof(__nv_bfloat16)>>>(a, b, c, SIZE,
                                                                                          depth);
  return finish();
}

int main(int count, char** values) {
  const int step = argument(count, values, 1, 0), depth = argument(count, values, 2, SIZE);
  switch (step) {
  case 3: return run_tiles<Copies::THROUGH_REGISTERS, DEPTH>(depth);
  case 4: return run_tiles<Copies::IN_BACKGROUND, DEPTH + 8>(depth);
  case 5: return run_tiles<Copies::EXCHANGED, DEPTH>(depth);
  default: break;
  }
  const half *a = allocate<half>(ELEMENTS), *b = allocate<half>(ELEMENTS);
  float* c = allocate<float>(ELEMENTS);
  if (step == 0)
    product_of_elements<<<dim3(SIZE / 32, SIZE / 32), dim3(16, 16)>>>(a, b, c, SIZE, depth);
  else if (step == 1)
    product_of_matrices<<<dim3(SIZE / ROWS, SIZE / ROWS), dim3(16, 16)>>>(a, b, c, SIZE, depth);
  else
    product_in_stages<<<dim3(SIZE / ROWS, SIZE / ROWS), dim3(16, 16)>>>(a, b, c, SIZE, depth);
  return finish();
}
