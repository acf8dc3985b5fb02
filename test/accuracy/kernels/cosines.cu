// Discrete cosine transforms of the 8 × 8 squares of an image: as two products with a matrix in constant
// memory, the image being a texture; and as sums of neighbours, rows and columns of a tile in shared memory.
//
// Usage: cosines [SIZE]    512
#include "program.h"

#include <cmath>

constexpr int SQUARE = 8;

__constant__ float matrix[SQUARE * SQUARE];

__global__ void cosines_by_products(float* out, int size, cudaTextureObject_t image) {
  __shared__ float pixels[SQUARE * SQUARE], half_way[SQUARE * SQUARE];
  const int tx = threadIdx.x, ty = threadIdx.y, place = ty * SQUARE + tx;
  pixels[place] = tex2D<float>(image, blockIdx.x * SQUARE + tx + 0.5f, blockIdx.y * SQUARE + ty + 0.5f);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < SQUARE; ++i)
    sum += matrix[i * SQUARE + ty] * pixels[i * SQUARE + tx];
  half_way[place] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < SQUARE; ++i)
    sum += half_way[ty * SQUARE + i] * matrix[i * SQUARE + tx];
  pixels[place] = sum;
  __syncthreads();
  out[(blockIdx.y * SQUARE + ty) * size + blockIdx.x * SQUARE + tx] = pixels[place];
}

/// Transforms eight numbers in place.
__device__ void transform(float* first, int apart) {
  constexpr float norm = 0.3535533906f, a = 1.3870398453f, b = 1.3065629649f, c = 1.1758756024f,
                  d = 0.7856949584f, e = 0.5411961001f, f = 0.2758993793f;
  float x[SQUARE];
#pragma unroll
  for (int i = 0; i < SQUARE; ++i)
    x[i] = first[i * apart];
  const float p0 = x[0] + x[7], p1 = x[1] + x[6], p2 = x[2] + x[5], p3 = x[3] + x[4];
  const float m0 = x[0] - x[7], m1 = x[6] - x[1], m2 = x[2] - x[5], m3 = x[4] - x[3];
  first[0 * apart] = norm * (p0 + p3 + p1 + p2);
  first[2 * apart] = norm * (b * (p0 - p3) + e * (p1 - p2));
  first[4 * apart] = norm * (p0 + p3 - p1 - p2);
  first[6 * apart] = norm * (e * (p0 - p3) - b * (p1 - p2));
  first[1 * apart] = norm * (a * m0 - c * m1 + d * m2 - f * m3);
  first[3 * apart] = norm * (c * m0 + f * m1 - a * m2 + d * m3);
  first[5 * apart] = norm * (d * m0 + a * m1 + f * m2 - c * m3);
  first[7 * apart] = norm * (f * m0 + d * m1 + c * m2 + a * m3);
}

constexpr int WIDTH = 32, HEIGHT = 16; // of a block's tile, whose rows are one word longer

__global__ void cosines_by_sums(float* out, const float* in, int size) {
  __shared__ float tile[HEIGHT * (WIDTH + 1)];
  const int x = threadIdx.y * SQUARE + threadIdx.x, y = threadIdx.z * SQUARE;
  const int place = (blockIdx.y * HEIGHT + y) * size + blockIdx.x * WIDTH + x;
  float* column = tile + y * (WIDTH + 1) + x;
#pragma unroll
  for (int i = 0; i < SQUARE; ++i)
    column[i * (WIDTH + 1)] = in[place + i * size];
  __syncthreads();
  transform(tile + (y + threadIdx.x) * (WIDTH + 1) + threadIdx.y * SQUARE, 1);
  __syncthreads();
  transform(column, WIDTH + 1);
  __syncthreads();
  for (int i = 0; i < SQUARE; ++i)
    out[place + i * size] = column[i * (WIDTH + 1)];
}

/// Returns a texture of an image of zeros.
cudaTextureObject_t texture_of(int size) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  cudaMallocArray(&resource.res.array.array, &format, size, size);
  const std::vector<float> zeros(size * size);
  cudaMemcpy2DToArray(resource.res.array.array, 0, 0, zeros.data(), size * sizeof(float),
                      size * sizeof(float), size, cudaMemcpyHostToDevice);
  cudaTextureDesc texture = {};
  cudaTextureObject_t object = 0;
  cudaCreateTextureObject(&object, &resource, &texture, nullptr);
  return object;
}

int main(int count, char** values) {
  const int size = argument(count, values, 1, 512);
  std::vector<float> cosines(SQUARE * SQUARE);
  for (int i = 0; i < SQUARE; ++i)
    for (int j = 0; j < SQUARE; ++j)
      cosines[i * SQUARE + j] = std::cos((2 * i + 1) * j * 3.14159265 / 16) * (j == 0 ? 0.353553391 : 0.5);
  cudaMemcpyToSymbol(matrix, cosines.data(), cosines.size() * sizeof(float));
  float *in = allocate<float>(size * size), *out = allocate<float>(size * size);
  cosines_by_products<<<dim3(size / SQUARE, size / SQUARE), dim3(SQUARE, SQUARE)>>>(out, size,
                                                                                    texture_of(size));
  cosines_by_sums<<<dim3(size / WIDTH, size / HEIGHT), dim3(SQUARE, WIDTH / SQUARE, HEIGHT / SQUARE)>>>(
      out, in, size);
  return finish();
}
