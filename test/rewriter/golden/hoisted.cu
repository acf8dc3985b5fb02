// Accesses that the compiler moves out of a loop: a probe that records once each time the loop is entered, in every form
// of loop that a block can be put around.
#define AT(p, i) p[i]
#define REPEAT(n) for (int j = 0; j < n; ++j)
#define UNROLL _Pragma("unroll 4")
#define ONE_MORE(p, i) (p[i] + 1)

template <class T>
__device__ T sum(const T* __restrict__ a, const T* __restrict__ weight, int n) {
  T total = 0;
  for (int j = 0; j < n; ++j)
    total += a[j] * weight[1];
  return total;
}

__device__ float weighted(const float* __restrict__ weight, int i) { return weight[i]; }

__host__ __device__ constexpr int power(const int* __restrict__ base, int n) {
  int result = 1;
  for (int j = 0; j < n; ++j)
    result = result * *base % 1000;
  return result;
}
constexpr int bases[] = {2, 3};
static_assert(power(bases + 1, 3) == 27, "");

__global__ void hoisted(const float* __restrict__ a, const double* __restrict__ d, const int* __restrict__ b, float* __restrict__ out, int n, int i) {
  for (int j = 0; j < n; ++j)
    out[j] = a[i] + AT(a, i + 1) * a[j];
#pragma unroll 2
  for (int j = 0; j < n; ++j) { // two probes, one update
    out[i] += a[j];
  }
  if (n > 3)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        out[j * n + k] = a[j] * a[i + 2];
  else
    while (n > *a)
      --n;
  int left = n;
  do
    out[--left] = a[i + 3];
  while (left > a[i + 4]);
  for (int j = 0; j < n; ++j)
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      if (float x = a[j] * a[k]; x > 3)
        out[k] += x;
      else
        out[k] = x;
again:
  for (int j = 0; j < n; ++j)
    out[j] = ONE_MORE(a, i + 5);
  if (out[7] < 0)
    goto again;
  switch (n) {
  case 1:
    UNROLL for (int j = 0; j < 100; ++j) out[j] = a[j] + a[i + 6];
    break;
  default:
    for (int j = 0; j < n; ++j)
      out[j] = [&](int k) {
        float s = 0;
        for (int l = 0; l < k; ++l)
          s += a[l] * a[i + 7];
        return s;
      }(j);
  }
  out[0] = sum(a, a + 1, n) + sum(d, d + 1, n) + power(b, n);
}

// Accesses that cannot be distinguished from others.
__global__ void repeated(const float* __restrict__ a, float* __restrict__ out, int n, int i) {
  REPEAT(n) out[j] = a[i];
  for (int j = 0; j < n; ++j)
    out[j] = weighted(a, i + 9);
  int j = 0;
  switch (n % 2) {
    for (; j < n; ++j) {
    case 0: out[j] = 2;
    default: out[j + n] = 3;
    }
  }
  for (int k = 0; k < n; ++k) {
    out[k] = a[i + 1] * a[k];
    if (out[k] > 0)
      goto next;
    out[k + n] = 3;
  next:;
  }
#if __CUDA_ARCH__ >= 500
  for (int j = 0; j < n; ++j) {
#else
  {
    int j = 0;
#endif
    out[j] = a[i + 2];
  }
}
// An access through a function of CUDA's leaves its loop likewise.
__global__ void through_functions(const float* in, cudaTextureObject_t texture, float* out, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i)
    sum = sum * 2 + __ldg(in + threadIdx.x) + tex1Dfetch<float>(texture, threadIdx.x);
  out[0] = sum;
}
int main() {}
