// Accesses of which the compiler leaves only some of the copies that unrolling makes: a probe that records in these
// iterations, in every form of loop.
#define TIMES(n) for (int j = 0; j < n; ++j)
#define SUM(p, i) sum += p[i] * p[i + 1]

__global__ void forms(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n) {
  float sum = 0;
  for (int j = 0; j < 4; ++j)
    sum += a[j * n] * w[0];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (a[j] > 3)
      continue;
    sum += w[1];
  }
  int i = 0;
  while (i < 3)
    sum += a[i++ + n] * w[2];
  do
    sum += a[i + 2 * n] * w[3];
  while (++i < 6);
  for (const int k : {3, 4})
    if (n > 3)
      sum += a[k + 3 * n] * w[4];
    else
      sum -= w[5];
#pragma unroll
  for (int o = 0; o < 3; ++o)
#pragma unroll
    for (int t = 0; t < 2; ++t)
      sum *= 1 + w[t + 6] * a[o + t + 4 * n];
  for (int o = 0; o < 3; ++o) {
#pragma unroll 3
    for (int t = 0; t < 3; ++t) sum *= 1 + w[t + 8] * a[o + 5 * n];
  }
  out[0] = sum;
}

// Loops that are left around unrolled ones and in them.
__global__ void left(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n) {
  for (int row = 0; row < n; ++row) {
    float s[2];
#pragma unroll
    for (int o = 0; o < 2; ++o) {
      s[o] = 0;
#pragma unroll
      for (int t = 0; t < 3; ++t)
        s[o] += w[t] * a[row * n + o + t];
    }
    out[2 * row] = s[0];
    out[2 * row + 1] = s[1];
  }
  float sum = 0;
#pragma unroll
  for (int o = 0; o < 2; ++o)
#pragma unroll 1
    for (int k = 0; k < n; ++k)
      sum += a[k + o] * w[o + 4];
  out[2 * n] = sum;
}

template <int count>
__device__ float dot(const float* a, const float* w) {
  float sum = 0;
#pragma unroll
  for (int j = 0; j < count; ++j)
    if constexpr (count > 2)
      sum += a[j] * w[3];
    else {
      sum += a[j] * w[4];
    }
  return sum;
}

__host__ __device__ constexpr int power(const int* base) {
  int result = 1;
  for (int j = 0; j < 3; ++j)
    result = result * *base % 1000;
  return result;
}
constexpr int bases[] = {2, 3};
static_assert(power(bases + 1) == 27, "");

__global__ void functions(const float* a, const float* w, const int* b, float* out, cudaTextureObject_t texture) {
  float texels = 0;
  for (int j = 0; j < 3; ++j)
    texels += a[j + 64] * tex1Dfetch<float>(texture, 7);
  out[0] = dot<2>(a, w) + dot<4>(a + 9, w) + power(b) + texels;
}

// Those that cannot be counted so.
__global__ void repeated(const float* __restrict__ a, const float* __restrict__ w, float* __restrict__ out, int n) {
  float sum = 0;
  TIMES(3) sum += w[0] * a[j];
  for (int j = 0; j < 4 && w[1] > j; ++j)
    sum += a[n + j];
  for (int j = 0; j < 4; ++j)
    sum += [&](int k) { return a[2 * n + k] * w[2]; }(j);
  for (int j = 0; j < 4; ++j)
    SUM(a, 3 * n);
  out[0] = sum;
}
int main() {}
