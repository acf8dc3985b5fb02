// Transposes of the first rows of a square matrix, directly and by tiles in shared memory, with several
// elements to a thread: below one another, side by side, or both.
//
// Usage: transposes VARIANT [SIZE [ROWS]]    direct, or TILE/PADDING/WIDTH/EACH as in 32/1/2/4; 32768, 2048
#include "../../accuracy/kernels/program.h"

__global__ void transpose_directly(const float* in, float* out, int size) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  out[std::size_t(x) * size + y] = in[std::size_t(y) * size + x];
}

template <int WIDTH> struct Vector {
  using Type = float;
};
template <> struct Vector<2> {
  using Type = float2;
};
template <> struct Vector<4> {
  using Type = float4;
};

/// `WIDTH`: neighbouring elements that a thread loads and stores at once; `EACH`: such groups of a thread.
template <int TILE, int PADDING, int WIDTH, int EACH>
__global__ void transpose_tiles(const float* in, float* out, int size) {
  using Wide = typename Vector<WIDTH>::Type;
  __shared__ float tile[TILE][TILE + PADDING];
  const int column = threadIdx.x * WIDTH;
#pragma unroll
  for (int i = 0; i < TILE; i += TILE / EACH) {
    const int row = threadIdx.y + i;
    const Wide value = *reinterpret_cast<const Wide*>(
        &in[std::size_t(blockIdx.y * TILE + row) * size + blockIdx.x * TILE + column]);
    const float* parts = reinterpret_cast<const float*>(&value);
#pragma unroll
    for (int part = 0; part < WIDTH; ++part)
      tile[row][column + part] = parts[part];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < TILE; i += TILE / EACH) {
    const int row = threadIdx.y + i;
    Wide value;
    float* parts = reinterpret_cast<float*>(&value);
#pragma unroll
    for (int part = 0; part < WIDTH; ++part)
      parts[part] = tile[column + part][row];
    *reinterpret_cast<Wide*>(
        &out[std::size_t(blockIdx.x * TILE + row) * size + blockIdx.y * TILE + column]) = value;
  }
}

template <int TILE, int PADDING, int WIDTH, int EACH>
void run(const float* in, float* out, std::size_t size, std::size_t rows) {
  transpose_tiles<TILE, PADDING, WIDTH, EACH>
      <<<dim3(size / TILE, rows / TILE), dim3(TILE / WIDTH, TILE / EACH)>>>(in, out, int(size));
}

int main(int count, char** values) {
  const char* variant = count > 1 ? values[1] : "direct";
  const std::size_t size = argument(count, values, 2, 32768), rows = argument(count, values, 3, 2048);
  const float* in = allocate<float>(size * rows);
  float* out = allocate<float>(size * size);
  const auto is = [&](const char* name) { return std::strcmp(variant, name) == 0; };
  if (is("direct"))
    transpose_directly<<<dim3(size / 32, rows / 32), dim3(32, 32)>>>(in, out, int(size));
#define VARIANT(tile, padding, width, each)                                                                  \
  else if (is(#tile "/" #padding "/" #width "/" #each)) run<tile, padding, width, each>(in, out, size, rows);
  VARIANT(32, 0, 1, 1)
  VARIANT(32, 1, 1, 1)
  VARIANT(32, 1, 1, 2)
  VARIANT(32, 1, 1, 4)
  VARIANT(32, 1, 1, 8)
  VARIANT(32, 1, 2, 1)
  VARIANT(32, 1, 2, 2)
  VARIANT(32, 1, 2, 4)
  VARIANT(32, 1, 2, 8)
  VARIANT(32, 1, 4, 1)
  VARIANT(32, 1, 4, 2)
  VARIANT(32, 1, 4, 4)
  VARIANT(32, 1, 4, 8)
  VARIANT(64, 1, 2, 2)
  VARIANT(64, 1, 2, 4)
  VARIANT(64, 1, 2, 8)
  VARIANT(64, 1, 4, 4)
  VARIANT(64, 1, 4, 8)
  VARIANT(64, 1, 4, 16)
  else return 2;
  return finish();
}
