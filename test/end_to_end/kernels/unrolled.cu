// Unrolling a loop makes copies of its accesses, and the copies that the compiler merges or removes do not count as if
// they ran. How often each line loads and stores in a thread is in the PTX that nvcc makes of these kernels, which have
// no loop left in it; unrolled_test.py compares. Kernels with loops left have their counts by hand:  expect: N loads  or
// expect: N stores
#include <cstdio>
#include <cuda_runtime.h>

constexpr int words = 4096;

__global__ void invariant(const float* a, const float* w, float* out, int n, int b) {
  const int t = threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 16; j++)
    sum += a[j * n + t] *
           w[b];
  out[t] = sum;
}

__global__ void filter(const float* taps, const float* in, float* out, int, int) {
  const int base = threadIdx.x * 8;
  float s[8];
#pragma unroll
  for (int o = 0; o < 8; ++o) {
    s[o] = 0;
#pragma unroll
    for (int t = 0; t < 5; ++t)
      s[o] += taps[t] *
              in[base + o + t];
  }
#pragma unroll
  for (int o = 0; o < 8; ++o)
    out[base + o] = s[o];
}

// The taps again, stored at once: `out` may be `taps` or `in`.
__global__ void filter_may_alias(const float* taps, const float* in, float* out, int, int) {
  const int base = threadIdx.x * 8;
#pragma unroll
  for (int o = 0; o < 8; ++o) {
    float s = 0;
#pragma unroll
    for (int t = 0; t < 5; ++t)
      s += taps[t] *
           in[base + o + t];
    out[base + o] = s;
  }
}

// This loop is not unrolled, and no pragma requests it.
__global__ void filter_restricted(const float* __restrict__ taps, const float* __restrict__ in, float* __restrict__ out, int, int) {
  const int base = threadIdx.x * 8;
  for (int o = 0; o < 4; ++o) {
    float s = 0;
    for (int t = 0; t < 3; ++t)
      s += taps[t] *
           in[base + o + t];
    out[base + o] = s;
  }
}

// Three points of a row at a time, several of which are shared with the next row.
__global__ void stencil(const float* __restrict__ a, const float* __restrict__, float* __restrict__ out, int n, int) {
  const int t = threadIdx.x + 1;
#pragma unroll
  for (int y = 1; y < 5; ++y)
    out[y * n + t] = a[y * n + t] +
                     a[y * n + t - 1] + a[y * n + t + 1] +
                     a[(y - 1) * n + t] +
                     a[(y + 1) * n + t];
}

// One step of a matrix multiplication with 4 by 4 sums in registers.
__global__ void outer_product(const float* a, const float* b, float* out, int n, int k) {
  float sums[4][4] = {};
  const int row = threadIdx.x / 8 * 4, column = threadIdx.x % 8 * 4;
#pragma unroll
  for (int step = 0; step < 2; ++step)
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        sums[i][j] += a[(row + i) * n + k + step] *
                      b[(k + step) * n + column + j];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      out[(row + i) * n + column + j] = sums[i][j];
}

__global__ void branches(const float* a, const float* w, float* out, int n, int) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (j % 2) {
      sum += a[t + j] *
             w[0];
    } else {
      sum -= a[t + n] *
             w[1];
    }
    switch (j % 3) {
    case 0:
      sum += a[2 * n + t];
      break;
    case 1:
      continue;
    default:
      sum *= w[j];
    }
  }
  out[t] = sum;
}

__global__ void while_loops(const float* a, const float* w, float* out, int n, int) {
  const int t = threadIdx.x;
  float sum = 0;
  int j = 0;
  while (j < 6) {
    const int i = j++;
    sum += a[i * n + t] *
           w[3];
  }
  do
    sum += a[(j - 6) * n + t] *
           w[4];
  while (++j < 10);
  for (const int i : {1, 3, 5})
    sum += w[2] *
           a[10 * n + i * t];
  out[t] = sum;
}

template <int count> __device__ float dot(const float* a, const float* w, int t) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < count; ++j)
    sum += a[t + j] *
           w[0];
  return sum;
}
template <int count> __global__ void instance(const float* a, const float* w, float* out, int, int) {
  out[threadIdx.x] = dot<count>(a, w, threadIdx.x);
}

struct Point {
  float x, y;
};
__global__ void members(const float* a, const float* w, float* out, int n, int) {
  const Point* points = reinterpret_cast<const Point*>(a);
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    sum += points[t + j].x *
           w[n] +
           points[t].y;
  out[t] = sum;
}

// Taps stay in registers over the rows; `n` is the number of rows.
__global__ void rows(const float* __restrict__ taps, const float* __restrict__ in, float* __restrict__ out, int n, int) {
  const int t = threadIdx.x;
#pragma unroll 1
  for (int row = 0; row < n; ++row) {
    float s[4];
#pragma unroll
    for (int o = 0; o < 4; ++o) {
      s[o] = 0;
#pragma unroll
      for (int k = 0; k < 3; ++k)
        s[o] += taps[k] *                    // expect: 3 loads
                in[row * 64 + t * 4 + o + k]; // expect: 60 loads
    }
#pragma unroll
    for (int o = 0; o < 4; ++o)
      out[row * 4 + o] = s[o]; // expect: 40 stores
  }
}

// Values that the inner loop, whose end is only known when it runs, does not change are loaded before it, in each of
// the outer one's iterations.
__global__ void inner_loop(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n, int b) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int o = 0; o < 3; ++o)
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      sum += a[k * 32 + o + t] * // expect: 30 loads
             w[o] *              // expect: 3 loads
             w[b];               // expect: 1 loads
  out[t] = sum;                  // expect: 1 stores
}

int main() {
  float *a = nullptr, *w = nullptr, *out = nullptr;
  for (float** array : {&a, &w, &out}) {
    cudaMalloc(array, words * sizeof(float));
    cudaMemset(*array, 0, words * sizeof(float));
  }
  using Kernel = void (*)(const float*, const float*, float*, int, int);
  const Kernel kernels[] = {invariant,   filter,   filter_may_alias, filter_restricted, stencil, outer_product, branches,
                            while_loops, instance<2>, instance<6>,    members,           rows,    inner_loop};
  for (const Kernel kernel : kernels)
    kernel<<<1, 32>>>(a, w, out, 10, 1);
  const bool right = cudaDeviceSynchronize() == cudaSuccess;
  std::printf("%s\n", right ? "right" : "WRONG");
  return !right;
}
