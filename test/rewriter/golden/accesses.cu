// Every kind of access, and expressions that only look like one.
#include <cstdio>

__device__ float table[16];
__device__ int counter;
__constant__ float weights[16];
constexpr int width = 4;
__device__ const int limit = 3;

struct Particle {
  float x, y;
  int bits : 4;
  float4 velocity;
  float tail[2];
};
struct __attribute__((packed)) Tight {
  char tag;
  int value;
};
struct Odd {
  int value;
  __host__ __device__ Odd* operator&() const { return nullptr; }
};
struct Deep {
  float copied;
  __device__ Deep(const Deep& other) : copied(other.copied) {}
  __device__ explicit Deep(const float* p) : copied(p[0]) {}
  float tuned = 1;
};
struct Starts {
  float first = table[0];
  __device__ Starts() {}
};
union Bits {
  float f;
  unsigned u;
};

__host__ __device__ constexpr int twice(const int* p) { return p[0] + p[0]; }
__device__ float with_default(float a = table[1]) { return a; }
__device__ void add_to(float& sum, float x) { sum += x; }
__device__ void add_to_register(float& sum, float x) { sum += x; }
__device__ float& element(float* p, int i) { return p[i]; }
__device__ const float& larger(const float& a, const float& b) { return a < b ? b : a; }

__global__ void scalars(const int* __restrict__ index, float* out, volatile int* flags, Particle* p, int n) {
  __shared__ float tile[32];
  __shared__ int total;
  extern __shared__ float dynamic[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float local[4] = {0, 1, 2, 3};
  tile[threadIdx.x] = out[index[i]];
  dynamic[i] += tile[31 - threadIdx.x] + table[i & 15] * weights[3];
  total = warpSize + width + limit;
  counter++;
  --total;
  local[i & 3] = local[2] + n;
  flags[i] = flags[i + 1];
  p[i].x = p->y;
  p[i].bits = 3;
  p[i].tail[1] = (*p).tail[0];
  (p + 1)->velocity.x += p[i].velocity.y;
  *out = *(out + 1), out[2] = (out[3]);
  out[i > 3 ? index[0] : 0] = i > 3 ? out[0] : local[1];
  (i > 3 ? out[1] : out[2]) = 1;
  if (i < n && out[i] > 0 || !out[i + 1])
    out[i] = sizeof(out[3]) + twice(index);
  for (int j = index[i]; j < index[i + 1]; ++j)
    out[j] *= 2;
  switch (index[2]) {
  case width: out[4] = 1; break;
  default: out[5] = with_default();
  }
  out[6] = out[7] = 1;
  int chosen[width] = {index[0], index[1]};
  out[8] = chosen[i & 3];
}

__global__ void classes(float4* vectors, Particle* p, Odd* odd, Tight* tight, Bits* bits, const Deep* deep, float* out) {
  float4 v = vectors[0];
  vectors[1] = vectors[2];
  vectors[3] = make_float4(v.x, vectors[4].x, 0, 0);
  Particle copy = p[2];
  p[3] = copy;
  p[4] = Particle{out[0], 1, 2, vectors[5]};
  odd[0] = odd[1];
  odd[2].value = 3;
  tight[0].value = tight[1].tag;
  bits[0].u = bits[1].u & 0x7fffffff;
  Deep one(deep[0]), two(out);
  Starts starts;
  out[1] = one.copied + two.copied + starts.first;
  const auto [x, y] = reinterpret_cast<float2*>(out)[1];
  out[2] = x + y;
}

__global__ void references(float* out, int n) {
  float kept = 0;
  add_to(out[0], out[1]);
  add_to_register(kept, 1);
  float& alias = out[2];
  alias = alias + 1;
  float& other = kept;
  other = 2;
  element(out, 3) = element(out, 4);
  out[5] = larger(out[6], out[7]) + larger(kept, 1);
  auto by_value = [=](int k) { return out[k] + kept; };
  auto generic = [&](auto k) { return out[k] + kept; };
  out[8] = by_value(1) + generic(2) + generic(3u);
  float sums[2] = {};
  for (float& sum : sums)
    sum = out[9];
  __shared__ float tile[4];
  for (float& cell : tile)
    cell = 0;
  for (float cell : tile)
    out[10] += cell;
  float** rows = reinterpret_cast<float**>(out);
  rows[1][2] = *rows[3];
}

__global__ void atomics(int* counts, unsigned long long* wide, const float4* vectors, int** rows, float* out) {
  __shared__ int histogram[8];
  atomicAdd(&counts[threadIdx.x], 1);
  atomicAdd(histogram, counts[0]);
  atomicCAS(wide, 1ull, 2ull);
  atomicMax_block(&histogram[counts[1]], 3);
  atomicAdd(rows[2], 1);
  float4 v = __ldg(&vectors[1]);
  out[0] = v.x + __ldg(out + 2) + __ldcs(out);
  __stcg(&out[1], 2.f);
}

int main() {
  scalars<<<1, 32, 128>>>(nullptr, nullptr, nullptr, nullptr, 0);
  int host[2] = {1, 2};
  host[0] = twice(host);
  printf("%d\n", host[1]);
}
