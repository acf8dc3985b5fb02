// Kernels that launch kernels, in code of -rdc=true, and what only an architecture with features of its own has.
// flags: -arch=sm_90a -rdc=true -std=c++17
#include "../expect.h"

#include <cuda_fp16.h>

struct Range {
  int first, count;
  double step;
};

__device__ int launched;

__global__ void put(int* out, int count, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = first + i;
}

template <class Number> __global__ void scale(Number* numbers, Range range) {
  extern __shared__ char shared[];
  Number* const own = reinterpret_cast<Number*>(shared);
  for (int i = threadIdx.x; i < range.count; i += blockDim.x)
    own[i] = numbers[range.first + i];
  __syncthreads();
  for (int i = threadIdx.x; i < range.count; i += blockDim.x)
    numbers[range.first + i] = own[range.count - 1 - i] * Number(range.step);
}

__global__ void add(const int* numbers, int count, int* sum) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    atomicAdd(sum, numbers[i]);
}

/// Each block launches; the sum is the last of all.
__global__ void launch_of_each_block(int* out, int of_block, int* sum) {
  if (threadIdx.x != 0)
    return;
  atomicAdd(&launched, 1);
  put<<<dim3((of_block + 31) / 32), 32>>>(out + blockIdx.x * of_block, of_block, int(blockIdx.x) * 1000);
  if (blockIdx.x == 0)
    add<<<1, 64, 0, cudaStreamTailLaunch>>>(out, of_block * int(gridDim.x), sum);
}

/// A template's instance, with a structure and dynamic shared memory.
__global__ void launch_template(float* numbers) {
  scale<float><<<1, 32, 64 * sizeof(float), cudaStreamFireAndForget>>>(numbers, Range{8, 64, 0.5});
}

/// Launches itself until the depth is reached.
__global__ void descend(int* depths, int depth) {
  depths[depth] = depth + 1;
  if (depth + 1 < 5)
    descend<<<1, 1>>>(depths, depth + 1);
}

/// A product of tensor cores: its machine code calls no other file.
__global__ void multiply(const unsigned* a, const unsigned* b, float* sums) {
  float c[4] = {};
  const unsigned* const of_a = a + threadIdx.x * 4;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(b[threadIdx.x * 2]), "r"(b[threadIdx.x * 2 + 1]));
  for (int i = 0; i < 4; ++i)
    sums[threadIdx.x * 4 + i] = c[i];
}

__global__ void tell_architecture(int* out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && __CUDA_ARCH_SPECIFIC__ == 900
  asm volatile("setmaxnreg.inc.sync.aligned.u32 40;");
  *out = __CUDA_ARCH__;
#else
  *out = -1;
#endif
}

template <class T> T* managed(int count) {
  T* pointer = nullptr;
  EXPECT(cudaMallocManaged(&pointer, count * sizeof(T)) == cudaSuccess);
  return pointer;
}

int main() {
  constexpr int blocks = 3, of_block = 100;
  int *out = managed<int>(blocks * of_block), *sum = managed<int>(1);
  *sum = 0;
  launch_of_each_block<<<blocks, 32>>>(out, of_block, sum);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  int expected = 0;
  for (int i = 0; i < blocks * of_block; ++i) {
    const int number = i / of_block * 1000 + i % of_block;
    EXPECT(out[i] == number);
    expected += number;
  }
  EXPECT(*sum == expected);
  int count = 0;
  cudaMemcpyFromSymbol(&count, launched, sizeof count);
  EXPECT(count == blocks);

  float* numbers = managed<float>(80);
  for (int i = 0; i < 80; ++i)
    numbers[i] = float(i);
  launch_template<<<1, 1>>>(numbers);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 80; ++i)
    EXPECT(numbers[i] == (i < 8 || i >= 72 ? float(i) : (71 - (i - 8)) * 0.5f));

  int* depths = managed<int>(8);
  descend<<<1, 1>>>(depths, 0);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 5; ++i)
    EXPECT(depths[i] == i + 1);

  unsigned *a = managed<unsigned>(128), *b = managed<unsigned>(64);
  for (int i = 0; i < 128; ++i)
    a[i] = 0x3c003c00; // ones
  for (int i = 0; i < 64; ++i)
    b[i] = 0x40004000; // twos
  float* sums = managed<float>(128);
  multiply<<<1, 32>>>(a, b, sums);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 128; ++i)
    EXPECT(sums[i] == 32);

  int* architecture = managed<int>(1);
  tell_architecture<<<1, 128>>>(architecture);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess && *architecture == 900);
  if (!wrong)
    std::puts("all right");
  return wrong;
}
