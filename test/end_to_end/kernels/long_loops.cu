// Kernels whose loops are long: in some of them iterations repeat, in others no two are alike.
//
// Usage: long_loops WHAT [SIZE [LENGTH]]    see main()
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

constexpr int TILE = 16;

// The product of two matrices of `depth` columns and rows, from tiles in shared memory.
__global__ void tiles(const float* a, const float* b, float* c, int size, int depth) {
  __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < depth; first += TILE) {
    of_a[threadIdx.y][threadIdx.x] = a[y * depth + first + threadIdx.x];
    of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k)
      sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
    __syncthreads();
  }
  c[y * size + x] = sum;
}

// The same from memory.
__global__ void rows(const float* a, const float* b, float* c, int size, int depth) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < depth; ++k)
    sum += a[y * depth + k] * b[k * size + x];
  c[y * size + x] = sum;
}

// A stencil that goes through planes, with three of them in registers.
__global__ void planes(const float* in, float* out, int size) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int plane = size * 8;
  float below = in[y * size + x], here = in[plane + y * size + x];
  for (int z = 1; z < size - 1; ++z) {
    const float above = in[(z + 1) * plane + y * size + x];
    const float left = x > 0 ? in[z * plane + y * size + x - 1] : 0, right = x + 1 < size ? in[z * plane + y * size + x + 1] : 0;
    out[z * plane + y * size + x] = 0.2f * (below + above + left + right + here);
    below = here;
    here = above;
  }
}

// Each block scans a run of the array, from one tile to the next.
__global__ void running_sums(const float* in, float* out, int tiles_of_block) {
  __shared__ float sums[256];
  float carried = 0;
  for (int tile = 0; tile < tiles_of_block; ++tile) {
    const size_t at = (size_t(blockIdx.x) * tiles_of_block + tile) * 256 + threadIdx.x;
    sums[threadIdx.x] = in[at];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
      const float other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    out[at] = carried + sums[threadIdx.x];
    carried += sums[255];
    __syncthreads();
  }
}

// Queries against all keys, a tile of these at a time: the loop of attention.
__global__ void queries(const float4* query, const float4* keys, const float4* values, float4* out, int count) {
  __shared__ float4 tile_k[64], tile_v[64];
  const int number = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 q = query[number];
  float4 sum = {0, 0, 0, 0};
  float most = -1e30f, all = 0;
  for (int first = 0; first < count; first += 64) {
    __syncthreads();
    if (threadIdx.x < 64) {
      tile_k[threadIdx.x] = keys[first + threadIdx.x];
      tile_v[threadIdx.x] = values[first + threadIdx.x];
    }
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < 64; ++i) {
      const float4 k = tile_k[i], v = tile_v[i];
      const float score = q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w;
      const float larger = fmaxf(most, score), old = __expf(most - larger), weight = __expf(score - larger);
      most = larger;
      all = all * old + weight;
      sum.x = sum.x * old + weight * v.x;
      sum.y = sum.y * old + weight * v.y;
    }
  }
  out[number] = {sum.x / all, sum.y / all, 0, 0};
}

// A product of a sparse matrix whose rows are of many lengths, a warp for each row.
__global__ void sparse(const int* begin, const int* column, const float* value, const float* x, float* y) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32;
  float sum = 0;
  for (int i = begin[row] + threadIdx.x % 32; i < begin[row + 1]; i += 32)
    sum += value[i] * x[column[i]];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0)
    y[row] = sum;
}

// Each thread goes on for as long as its number says.
__global__ void collatz(const unsigned* numbers, unsigned* steps, unsigned* table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long n = numbers[i];
  unsigned count = 0;
  for (; n > 1; ++count) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    count += table[n % 4096];
  }
  steps[i] = count;
}

// First a phase that reads what all blocks read, then one that reads what no other block does.
__global__ void two_phases(const float* of_all, const float* of_block, float* out, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (int at = 0; at < length; ++at)
    sum += of_all[at * 256 + threadIdx.x];
#pragma unroll 1
  for (int at = 0; at < length; ++at)
    sum += of_block[size_t(at) * all + i];
  out[i] = sum;
}

template <class T> T* array(size_t count) {
  T* pointer;
  cudaMalloc(&pointer, count * sizeof(T));
  cudaMemset(pointer, 0, count * sizeof(T));
  return pointer;
}

template <class T> T* copy_of(const std::vector<T>& values) {
  T* pointer = array<T>(values.size());
  cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return pointer;
}

int main(int count, char** values) {
  const char* what = count > 1 ? values[1] : "tiles";
  const int size = count > 2 ? atoi(values[2]) : 256;
  const int length = count > 3 ? atoi(values[3]) : size;
  const size_t square = size_t(size) * size, oblong = size_t(size) * length;
  if (!strcmp(what, "tiles"))
    tiles<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(array<float>(oblong), array<float>(oblong), array<float>(square), size, length);
  if (!strcmp(what, "rows"))
    rows<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(array<float>(oblong), array<float>(oblong), array<float>(square), size, length);
  if (!strcmp(what, "planes"))
    planes<<<dim3(size / 32, 1), dim3(32, 8)>>>(array<float>(square * 8), array<float>(square * 8), size);
  if (!strcmp(what, "running_sums"))
    running_sums<<<size, 256>>>(array<float>(oblong * 256), array<float>(oblong * 256), length);
  if (!strcmp(what, "queries"))
    queries<<<size / 128, 128>>>(array<float4>(size), array<float4>(size), array<float4>(size), array<float4>(size), size);
  if (!strcmp(what, "sparse")) {
    std::vector<int> begin{0}, column;
    for (int row = 0; row < size; ++row) {
      const int length = row % 64 == 5 ? 4096 : 16 + row * 7 % 48;
      for (int i = 0; i < length; ++i)
        column.push_back(int((unsigned(row) * 2654435761u + unsigned(i) * 40503u) >> 8) % size);
      begin.push_back(int(column.size()));
    }
    sparse<<<size / 8, 256>>>(copy_of(begin), copy_of(column), array<float>(column.size()), array<float>(size), array<float>(size));
  }
  if (!strcmp(what, "collatz")) {
    std::vector<unsigned> numbers;
    for (int i = 0; i < size; ++i)
      numbers.push_back(1000003u + 7919u * unsigned(i));
    collatz<<<size / 128, 128>>>(copy_of(numbers), array<unsigned>(size), array<unsigned>(4096));
  }
  if (!strcmp(what, "two_phases"))
    two_phases<<<size, 256>>>(array<float>(length * 256), array<float>(oblong * 256), array<float>(size * 256), length);
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s: %s\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}
