// Loops whose loads nvcc puts next to each other, some iterations at a time. adjacent_copies_test.py compares
// the copies of the sites with the loads in the largest basic block of nvcc's PTX.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int words = 1 << 18;

__global__ void at_run_time(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void downwards(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                          int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = n - 1; i >= 0; --i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void strided(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                        int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < n; i += 256)
    sum += a[i];
  out[t] = sum;
}

__global__ void strided_at_run_time(const float* __restrict__ a, const int* __restrict__ b,
                                    float* __restrict__ out, int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; i += m)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void unsigned_stride(const float* __restrict__ a, const int* __restrict__ b,
                                float* __restrict__ out, int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = t; i < n; i += blockDim.x * gridDim.x)
    sum += a[i];
  out[t] = sum;
}

__global__ void while_loop(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                           int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  int i = 0;
  while (i < n) {
    sum += a[i * 128 + t];
    ++i;
  }
  out[t] = sum;
}

__global__ void constant_4(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                           int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_8(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                           int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_16(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 16; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_32(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 32; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_64(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 64; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_66(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 66; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_72(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 72; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_96(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 96; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_99(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 99; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_100(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                             int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_128(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                             int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 128; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_512(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                             int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 512; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void constant_1021(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                              int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 1021; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void requested_1(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void requested_3(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 3
  for (int i = 0; i < n; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void requested_8(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                            int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < n; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void requested_32(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                             int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 32
  for (int i = 0; i < n; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void requested_all(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                              int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 37; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void requested_4_of_66(const float* __restrict__ a, const int* __restrict__ b,
                                  float* __restrict__ out, int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (int i = 0; i < 66; ++i)
    sum += a[i * 128 + t];
  out[t] = sum;
}

__global__ void early_end(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                          int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    const float x = a[i * 128 + t];
    if (x < 0)
      break;
    sum += x;
  }
  out[t] = sum;
}

__global__ void nested(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out, int n,
                       int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      sum += a[(i * 8 + j) * 128 + t];
  out[t] = sum;
}

__global__ void nested_constant(const float* __restrict__ a, const int* __restrict__ b,
                                float* __restrict__ out, int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 3; ++j)
      sum += a[(i * 3 + j) * 128 + t];
  out[t] = sum;
}

__global__ void two_loads(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                          int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[i * 128 + t] * b[i * 64 + t];
  out[t] = sum;
}

__global__ void gather(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out, int n,
                       int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[b[i * 128 + t]];
  out[t] = sum;
}

__global__ void stencil(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                        int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 1; i < n; ++i)
    out[i * 128 + t] = a[(i - 1) * m + t] + a[i * m + t] + a[(i + 1) * m + t];
  out[t] = sum;
}

__global__ void large_body_2(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                             int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  float s = 0, u = 1, v = 2;
  for (int i = 0; i < n; ++i) {
    const float x = a[i * 128 + t];
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
  }
  sum = s + u + v;
  out[t] = sum;
}

__global__ void large_body_6(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                             int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  float s = 0, u = 1, v = 2;
  for (int i = 0; i < n; ++i) {
    const float x = a[i * 128 + t];
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
  }
  sum = s + u + v;
  out[t] = sum;
}

__global__ void large_body_12(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                              int n, int m) {
  const int t = threadIdx.x;
  float sum = 0;
  float s = 0, u = 1, v = 2;
  for (int i = 0; i < n; ++i) {
    const float x = a[i * 128 + t];
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
    s = s * x + u, u = u * s + v, v = v * u + x, s += x * x * u * v;
  }
  sum = s + u + v;
  out[t] = sum;
}

__global__ void tiles(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out, int n,
                      int m) {
  const int t = threadIdx.x;
  float sum = 0;
  __shared__ float as[16][32], bs[16][32];
  for (int k = 0; k < n; k += 16) {
    as[t & 15][t >> 4] = a[k * 128 + t];
    bs[t >> 4][t & 15] = b[k * 128 + t];
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += as[i][t & 7] * bs[i][t & 15];
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  float *a, *out;
  int* b;
  cudaMalloc(&a, words * sizeof *a);
  cudaMalloc(&b, words * sizeof *b);
  cudaMalloc(&out, words * sizeof *out);
  cudaMemset(a, 0, words * sizeof *a);
  cudaMemset(b, 0, words * sizeof *b);
  at_run_time<<<1, 32>>>(a, b, out, 8, 8);
  downwards<<<1, 32>>>(a, b, out, 8, 8);
  strided<<<1, 32>>>(a, b, out, 8, 8);
  strided_at_run_time<<<1, 32>>>(a, b, out, 8, 8);
  unsigned_stride<<<1, 32>>>(a, b, out, 8, 8);
  while_loop<<<1, 32>>>(a, b, out, 8, 8);
  constant_4<<<1, 32>>>(a, b, out, 8, 8);
  constant_8<<<1, 32>>>(a, b, out, 8, 8);
  constant_16<<<1, 32>>>(a, b, out, 8, 8);
  constant_32<<<1, 32>>>(a, b, out, 8, 8);
  constant_64<<<1, 32>>>(a, b, out, 8, 8);
  constant_66<<<1, 32>>>(a, b, out, 8, 8);
  constant_72<<<1, 32>>>(a, b, out, 8, 8);
  constant_96<<<1, 32>>>(a, b, out, 8, 8);
  constant_99<<<1, 32>>>(a, b, out, 8, 8);
  constant_100<<<1, 32>>>(a, b, out, 8, 8);
  constant_128<<<1, 32>>>(a, b, out, 8, 8);
  constant_512<<<1, 32>>>(a, b, out, 8, 8);
  constant_1021<<<1, 32>>>(a, b, out, 8, 8);
  requested_1<<<1, 32>>>(a, b, out, 8, 8);
  requested_3<<<1, 32>>>(a, b, out, 8, 8);
  requested_8<<<1, 32>>>(a, b, out, 8, 8);
  requested_32<<<1, 32>>>(a, b, out, 8, 8);
  requested_all<<<1, 32>>>(a, b, out, 8, 8);
  requested_4_of_66<<<1, 32>>>(a, b, out, 8, 8);
  early_end<<<1, 32>>>(a, b, out, 8, 8);
  nested<<<1, 32>>>(a, b, out, 8, 8);
  nested_constant<<<1, 32>>>(a, b, out, 8, 8);
  two_loads<<<1, 32>>>(a, b, out, 8, 8);
  gather<<<1, 32>>>(a, b, out, 8, 8);
  stencil<<<1, 32>>>(a, b, out, 8, 8);
  large_body_2<<<1, 32>>>(a, b, out, 8, 8);
  large_body_6<<<1, 32>>>(a, b, out, 8, 8);
  large_body_12<<<1, 32>>>(a, b, out, 8, 8);
  tiles<<<1, 32>>>(a, b, out, 8, 8);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
