// Kernels whose executed instructions can be counted in their machine code: straight code, and a loop that is not unrolled.
#include <cstdio>
#include <cstdlib>

__global__ void straight(const float* a, const float* b, float* sum) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = a[i] * b[i] + 1;
}

__global__ void updated(float* sum) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] += 2;
}

__global__ void exchanged(const float* a, float* sum) {
  __shared__ float tile[128];
  const unsigned i = blockIdx.x * blockDim.x;
  tile[threadIdx.x] = a[i + threadIdx.x];
  __syncthreads();
  sum[i + threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void looped(const float* a, float* sum, unsigned iterations) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
#pragma unroll 1
  for (unsigned k = 0; k < iterations; ++k)
    total += a[k * 1024 + i];
  sum[i] = total;
}

// From sm_80 on one instruction counts the lanes of a warp, whichever word each wants.
__global__ void counted(const int* word, float* sum) {
  __shared__ int counts[32];
  counts[threadIdx.x % 32] = 0;
  __syncthreads();
  atomicAdd(&counts[word[blockIdx.x * blockDim.x + threadIdx.x]], 1);
  __syncthreads();
  sum[blockIdx.x * blockDim.x + threadIdx.x] = float(counts[threadIdx.x % 32]);
}

int main(int, char** argv) {
  const unsigned iterations = unsigned(std::atoi(argv[1]));
  float *a, *sum;
  cudaMalloc(&a, 1024 * sizeof(float) * (iterations + 1));
  cudaMalloc(&sum, 1024 * sizeof(float));
  straight<<<8, 128>>>(a, a, sum);
  updated<<<8, 128>>>(sum);
  exchanged<<<8, 128>>>(a, sum);
  looped<<<8, 128>>>(a, sum, iterations);
  cudaMemset(a, 0, 1024 * sizeof(int));
  counted<<<8, 128>>>(reinterpret_cast<const int*>(a), sum);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
