// Variables of a thread that a GPU keeps in local memory. Each kernel runs as one warp. Its
// accesses are counted by hand in a comment:  expect: KIND, N executions, S sectors  or expect: nothing
//
// A word of a variable lies next to the same word of the neighbouring lane (CUDA C++ Programming Guide,
// "Local Memory"): 32 lanes that request the same element of 4 bytes touch 4 sectors, with 8 bytes it is 8.
// Lanes that request different elements touch a sector each.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

constexpr int rounds = 10;

__global__ void dynamic(const float* in, float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  float table[64];
  for (int i = 0; i < 64; ++i)
    table[i] = // expect: store, 16 executions, 16 sectors
        in[i * 32 + lane];
  float sum = 0;
  for (int j = 0; j < n; ++j) {
    const int at = index[j];
    sum += table[at];               // expect: load, 10 executions, 4 sectors
    sum += table[(at + lane) % 64]; // expect: load, 10 executions, 32 sectors
  }
  out[lane] = sum;
}

// All subscripts become constants: registers.
__global__ void unrolled(const float* in, float* out) {
  const int lane = threadIdx.x;
  float table[64];
#pragma unroll
  for (int i = 0; i < 64; ++i)
    table[i] = in[i * 32 + lane]; // expect: no local memory
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i)
    sum += table[i] * table[63 - i]; // expect: nothing
  out[lane] = sum;
}

// nvcc unrolls these by itself, for the array's sake.
__global__ void tile(const float* in, float* out, int n) {
  const int lane = threadIdx.x;
  float sums[4][4] = {};
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        sums[i][j] += in[k * 8 + i] * in[k * 8 + 4 + j + lane]; // expect: no local memory
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      sum += sums[i][j]; // expect: nothing
  out[lane] = sum;
}

struct Quad {
  float x, y, z, w;
};
__global__ void copied(const Quad* in, float* out) {
  const int lane = threadIdx.x;
  Quad one = in[lane], other;
  memcpy(&other, &one, sizeof other); // expect: nothing
  other.x += 1;
  out[lane] = other.x + other.w;
}

__device__ __noinline__ float pick(const float* from, int at) {
  return from[at]; // expect: load, 10 executions, 4 sectors
}
__global__ void helper(const float* in, float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  float table[16];
  for (int i = 0; i < 16; ++i)
    table[i] = in[i * 32 + lane]; // expect: store, 4 executions, 16 sectors
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += pick(table, index[j]);
  out[lane] = sum;
}

struct Body {
  float x, mass;
  int kind;
};
__global__ void structs(const float* in, float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  Body bodies[16];
  for (int i = 0; i < 16; ++i) {
    bodies[i].x = in[i * 32 + lane];          // expect: store, 16 executions, 4 sectors
    bodies[i].mass = in[(i + 1) * 32 + lane]; // expect: store, 16 executions, 4 sectors
    bodies[i].kind = lane;                    // expect: store, 16 executions, 4 sectors
  }
  float sum = 0;
  for (int j = 0; j < n; ++j) {
    if (bodies[index[j]].kind > -1)   // expect: load, 10 executions, 4 sectors
      sum += bodies[index[j] + 1].x;  // expect: load, 10 executions, 4 sectors
    sum *= bodies[index[j] + 1].mass; // expect: load, 10 executions, 4 sectors
  }
  out[lane] = sum;
}

__global__ void doubles(const float* in, float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  double table[32];
  for (int i = 0; i < 32; ++i)
    table[i] = in[i * 32 + lane]; // expect: store, 16 executions, 16 sectors
  double sum = 0;
  for (int j = 0; j < n; ++j)
    sum += table[index[j]]; // expect: load, 10 executions, 8 sectors
  out[lane] = sum;
}

__global__ void matrix(const float* in, float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  float table[8][8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      table[i][j] = in[i * 8 + j + lane]; // expect: store, 16 executions, 16 sectors
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += table[index[j] % 8][(index[j] + lane) % 8]; // expect: load, 10 executions, 32 sectors
  out[lane] = sum;
}

__global__ void histogram(float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  int bins[64];
  for (int i = 0; i < 64; ++i)
    bins[i] = lane; // expect: store, 16 executions, 16 sectors
  for (int j = 0; j < n; ++j)
    bins[index[j]] += j; // expect: update, 10 executions, 4 sectors
  int sum = 0;
  for (int j = 0; j < n; ++j)
    sum ^= bins[index[j + 1]]; // expect: load, 10 executions, 4 sectors
  out[lane] = sum;
}

template <class T, int N> __device__ T sum_of(const float* in, const int* index, int n) {
  const int lane = threadIdx.x;
  T table[N];
  for (int i = 0; i < N; ++i)
    table[i] = in[i * 32 + lane]; // expect: store, 4 executions, 16 sectors
  T sum = 0;
  for (int j = 0; j < n; ++j)
    sum += table[index[j]]; // expect: load, 10 executions, 4 sectors
  return sum;
}
__global__ void in_template(const float* in, float* out, const int* index, int n) {
  out[threadIdx.x] = sum_of<float, 16>(in, index, n);
}

__global__ void in_lambda(const float* in, float* out, const int* index, int n) {
  const int lane = threadIdx.x;
  float table[16];
  for (int i = 0; i < 16; ++i)
    table[i] = in[i * 32 + lane]; // expect: store, 4 executions, 16 sectors
  const auto at = [&](int i) {
    return table[i]; // expect: load, 10 executions, 4 sectors
  };
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += at(index[j]);
  out[lane] = sum;
}

// An object with an array, through its own functions and through a pointer.
struct Stack {
  int values[32];
  int top;
  __device__ void push(int value) {
    values[top] = value; // expect: store, 10 executions, 4 sectors
    ++top;
  }
  __device__ int pop() {
    --top;
    return values[top]; // expect: load, 10 executions, 4 sectors
  }
};
__global__ void stack(float* out, const int* index, int n) {
  Stack own;
  own.top = 0;
  for (int j = 0; j < n; ++j)
    own.push(index[j]);
  int sum = 0;
  while (own.top > 0)
    sum = 3 * sum + own.pop();
  out[threadIdx.x] = sum;
}

// A parameter that is only read stays where it was passed, in constant memory.
struct Weights {
  float values[64];
};
__global__ void by_value(Weights weights, float* out, const int* index, int n) {
  float sum = 0;
  for (int j = 0; j < n; ++j)
    sum += weights.values[index[j]]; // expect: no local memory
  out[threadIdx.x] = sum;
}

int main() {
  std::vector<float> values(4096);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 97);
  std::vector<int> numbers(rounds + 1);
  for (int j = 0; j <= rounds; ++j)
    numbers[j] = 5 * j % 15;
  float *in, *out;
  int* index;
  cudaMalloc(&in, values.size() * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMalloc(&index, numbers.size() * sizeof(int));
  cudaMemcpy(in, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(index, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice);
  const auto print = [&](const char* name) {
    float sums[32];
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (const float one : sums)
      sum += one;
    std::printf("%s: %.9g\n", name, sum);
  };
  dynamic<<<1, 32>>>(in, out, index, rounds), print("dynamic");
  unrolled<<<1, 32>>>(in, out), print("unrolled");
  tile<<<1, 32>>>(in, out, rounds), print("tile");
  copied<<<1, 32>>>(reinterpret_cast<const Quad*>(in), out), print("copied");
  helper<<<1, 32>>>(in, out, index, rounds), print("helper");
  structs<<<1, 32>>>(in, out, index, rounds), print("structs");
  doubles<<<1, 32>>>(in, out, index, rounds), print("doubles");
  matrix<<<1, 32>>>(in, out, index, rounds), print("matrix");
  histogram<<<1, 32>>>(out, index, rounds), print("histogram");
  in_template<<<1, 32>>>(in, out, index, rounds), print("in_template");
  in_lambda<<<1, 32>>>(in, out, index, rounds), print("in_lambda");
  stack<<<1, 32>>>(out, index, rounds), print("stack");
  Weights weights;
  for (int i = 0; i < 64; ++i)
    weights.values[i] = float(i);
  by_value<<<1, 32>>>(weights, out, index, rounds), print("by_value");
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
