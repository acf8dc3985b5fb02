// Accesses that the compiler removes or moves out of a loop are not counted as if they ran. How often each access runs in
// compiled code is counted by hand in a comment:  expect: KIND, N executions by warps, M by lanes  or expect:
// nothing
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

// One warp; the second load has the first one's value.
__global__ void redundant(const float* a, float* out) {
  const int lane = threadIdx.x;
  const float once = a[lane];  // expect: load, 1 executions by warps, 32 by lanes
  const float twice = a[lane]; // expect: nothing
  out[lane] = once + twice;    // expect: store, 1 executions by warps, 32 by lanes
}

// A value that was just stored is still in a register.
__global__ void forwarded(float* a, float* out, float x) {
  const int lane = threadIdx.x;
  a[lane] = x * lane; // expect: store, 1 executions by warps, 32 by lanes
  out[lane] =         // expect: store, 1 executions by warps, 32 by lanes
      a[lane];        // expect: nothing
}

// n rounds, in which a[lane] does not change.
__global__ void invariant(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int lane = threadIdx.x;
  for (int round = 0; round < n; ++round)
    out[round * 32 + lane] = // expect: store, 10 executions by warps, 320 by lanes
        a[lane] *            // expect: load, 1 executions by warps, 32 by lanes
        a[round];            // expect: load, 10 executions by warps, 320 by lanes
}

// The sum is kept in a register: one load before the loop, one store behind it.
__global__ void promoted(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int lane = threadIdx.x;
#pragma unroll 2
  for (int round = 0; round < n; ++round)
    out[lane] +=              // expect: update, 1 executions by warps, 32 by lanes
        a[round * 32 + lane]; // expect: load, 10 executions by warps, 320 by lanes
}

// Here a may be out: the sum is stored each time, but only loaded before the loop.
__global__ void may_alias(const float* a, float* out, int n) {
  const int lane = threadIdx.x;
  for (int round = 0; round < n; ++round)
    out[lane] +=              // expect: store, 10 executions by warps, 320 by lanes
        a[round * 32 + lane]; // expect: load, 10 executions by warps, 320 by lanes
}

// Three rounds of five: what changes with the outer one is loaded each time the inner one is entered. What
// changes with neither is loaded before both, since the inner one has a round for certain.
__global__ void nested(const float* __restrict__ a, float* __restrict__ out, int outer, int inner) {
  const int lane = threadIdx.x;
  for (int j = 0; j < outer; ++j) {
    int k = 0;
    do
      out[(j * inner + k) * 32 + lane] = // expect: store, 15 executions by warps, 480 by lanes
          a[j * 32 + lane] +             // expect: load, 3 executions by warps, 96 by lanes
          a[k * 32 + lane] +             // expect: load, 15 executions by warps, 480 by lanes
          a[lane];                       // expect: load, 1 executions by warps, 32 by lanes
    while (++k < inner);
  }
}

// Lane n goes round n times: lane 0 never, and loads nothing.
__global__ void unequal(const float* __restrict__ a, float* __restrict__ out) {
  const int lane = threadIdx.x;
  for (int round = 0; round < lane; ++round)
    out[round * 32 + lane] = // expect: store, 31 executions by warps, 496 by lanes
        a[lane];             // expect: load, 1 executions by warps, 31 by lanes
}

// One access from two warps and, as a template, with two types: two loops of four rounds each.
template <class T> __device__ T scaled(const T* __restrict__ a, const T* __restrict__ scale, int n) {
  T sum = 0;
  int round = 0;
  while (round < n) {
    sum += a[round * 64 + threadIdx.x] * // expect: load, 16 executions by warps, 512 by lanes
           scale[0];                     // expect: load, 4 executions by warps, 128 by lanes
    ++round;
  }
  return sum;
}
__global__ void instances(const float* __restrict__ a, const int* __restrict__ b, float* __restrict__ out,
                          int n) {
  out[threadIdx.x] = scaled(a, a + 1, n) + scaled(b, b + 1, n);
}

static bool failed = false;

template <class Value> static void check(const char* name, const float* device, int count, Value value) {
  std::vector<float> found(count);
  bool right = cudaMemcpy(found.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int i = 0; i < count; ++i)
    right = right && found[i] == static_cast<float>(value(i / 32, i % 32));
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
  failed |= !right;
}

int main() {
  constexpr int words = 1024;
  std::vector<float> values(words);
  std::vector<int> numbers(words);
  for (int i = 0; i < words; ++i) // a[k * 32 + lane] == lane
    values[i] = numbers[i] = i % 32;
  float *a = nullptr, *b = nullptr, *out = nullptr;
  int* c = nullptr;
  for (float** array : {&a, &b, &out})
    cudaMalloc(array, words * sizeof(float));
  cudaMalloc(&c, words * sizeof(int));
  cudaMemcpy(a, values.data(), words * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(c, numbers.data(), words * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, words * sizeof(float));

  redundant<<<1, 32>>>(a, out);
  check("redundant", out, 32, [](int, int lane) { return 2 * lane; });
  forwarded<<<1, 32>>>(b, out, 3);
  check("forwarded", out, 32, [](int, int lane) { return 3 * lane; });
  promoted<<<1, 32>>>(a, out, 10);
  check("promoted", out, 32, [](int, int lane) { return 13 * lane; });
  may_alias<<<1, 32>>>(a, out, 10);
  check("may_alias", out, 32, [](int, int lane) { return 23 * lane; });
  invariant<<<1, 32>>>(a, out, 10);
  check("invariant", out, 320, [](int round, int lane) { return round * lane; });
  nested<<<1, 32>>>(a, out, 3, 5);
  check("nested", out, 480, [](int, int lane) { return 3 * lane; });
  cudaMemset(out, 0, words * sizeof(float));
  unequal<<<1, 32>>>(a, out);
  check("unequal", out, 992, [](int round, int lane) { return round < lane ? lane : 0; });
  instances<<<1, 64>>>(a, c, out, 4);
  check("instances", out, 64, [](int, int lane) { return 8 * lane; });
  return failed;
}
