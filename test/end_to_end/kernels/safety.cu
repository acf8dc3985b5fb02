// One mistake per kernel, chosen by the first argument; the lines that messages name are marked.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int count = 1000;

__global__ void nothing_wrong(float* p) {
  __shared__ float tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float local[4] = {1, 2, 3, 4};
  tile[threadIdx.x] = local[i & 3];
  __syncthreads();
  const char* text = i == 5 ? "five\n" : "";
  if (i < count) {
    p[i] = tile[63 - threadIdx.x] + text[0];
    printf("%s", text);
  }
}
__global__ void past_the_end(float* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= count)
    p[i] = 1; // site: past_the_end
}
__global__ void past_a_shared_array(float* p) {
  __shared__ float neighbour[64];
  __shared__ float tile[64];
  neighbour[threadIdx.x] = 0;
  tile[threadIdx.x + 1] = 1; // site: past_a_shared_array
  __syncthreads();
  p[threadIdx.x] = tile[threadIdx.x] + neighbour[threadIdx.x];
}
__global__ void past_dynamic_shared(float* p) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x + 1] = 1; // site: past_dynamic_shared
  p[threadIdx.x] = dynamic[threadIdx.x];
}
__device__ int table[8];
__global__ void past_a_variable(int* p) {
  p[1] = table[p[0] + 8]; // site: past_a_variable
}
__global__ void misaligned(char* p) {
  ((float4*)(p + 8))[threadIdx.x] = make_float4(1, 2, 3, 4); // site: misaligned
}
__global__ void update(int* p) {
  atomicAdd(p, 1); // site: update
}
__global__ void apart(int* p) {
  if (threadIdx.x < 16)
    __syncthreads(); // site: half
  else
    p[threadIdx.x] = __shfl_sync(0xffffffff, p[threadIdx.x], 0); // site: other half
  if (threadIdx.x >= 32)
    __syncthreads(); // site: rest
}
__global__ void far_away(int* p) {
  p[threadIdx.x + (threadIdx.x == 37 ? 1LL << 44 : 0)] = 3;
}
__global__ void far_away_with_barrier(int* p) {
  __syncthreads();
  p[threadIdx.x + (threadIdx.x == 37 ? 1LL << 44 : 0)] = 3;
  __syncthreads();
}
__device__ int endless_recursion(int* p, int depth) {
  volatile int here[64];
  here[depth & 63] = p[depth & 7];
  return endless_recursion(p, depth + 1) + here[5] + 1;
}
__global__ void overflow(int* p) {
  p[0] = endless_recursion(p, 0);
}
__global__ void endless(volatile int* p) {
  int x = p[threadIdx.x]; // site: before the loop
  while (x % 2 == 0)
    x = x * 3 + *(volatile int*)&x * 2; // touches no memory that has a probe
  p[0] = x;
}
__global__ void sum(const float* values, float* total) {
  atomicAdd(total, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void sum_twice(const float* values, float* totals) {
  atomicAdd(&totals[0], values[blockIdx.x * blockDim.x + threadIdx.x]);
  cooperative_groups::this_grid().sync();
  atomicAdd(&totals[1], values[blockIdx.x * blockDim.x + threadIdx.x] * totals[0]);
}

/// The others wait for a block that has failed.
__global__ void fail_early(int* p) {
  if (blockIdx.x == 3)
    __trap();
  cooperative_groups::this_grid().sync();
  p[threadIdx.x] = 1;
}

int main(int argc, char** argv) {
  const auto chosen = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(float));
  cudaMemset(memory, 0, count * sizeof(float));
  auto* floats = static_cast<float*>(memory);
  auto* ints = static_cast<int*>(memory);
  if (chosen("nothing_wrong"))
    nothing_wrong<<<16, 64>>>(floats);
  if (chosen("past_the_end"))
    past_the_end<<<8, 128>>>(floats);
  if (chosen("past_a_shared_array"))
    past_a_shared_array<<<1, 64>>>(floats);
  if (chosen("past_dynamic_shared"))
    past_dynamic_shared<<<1, 64, 256>>>(floats);
  if (chosen("past_a_variable"))
    past_a_variable<<<1, 1>>>(ints);
  if (chosen("misaligned"))
    misaligned<<<1, 32>>>(static_cast<char*>(memory));
  if (chosen("freed")) {
    cudaFree(memory);
    update<<<1, 1>>>(ints);
  }
  int on_the_host = 0;
  if (chosen("host"))
    update<<<1, 1>>>(&on_the_host);
  if (chosen("null"))
    update<<<1, 1>>>(nullptr);
  if (chosen("apart"))
    apart<<<1, 96>>>(ints);
  if (chosen("far_away"))
    far_away<<<2, 64>>>(ints);
  if (chosen("far_away_with_barrier"))
    far_away_with_barrier<<<2, 64>>>(ints);
  if (chosen("overflow"))
    overflow<<<1, 1>>>(ints);
  if (chosen("endless"))
    endless<<<2, 64>>>(ints);
  if (chosen("sum")) {
    static float values[256 * 128];
    unsigned random = 1;
    for (float& value : values)
      value = static_cast<float>((random = random * 1664525 + 1013904223) >> 8) / 65536.0F;
    float* on_device = nullptr;
    cudaMalloc(&on_device, sizeof values);
    cudaMemcpy(on_device, values, sizeof values, cudaMemcpyHostToDevice);
    sum<<<256, 128>>>(on_device, floats);
    float total = 0, in_order = 0;
    cudaMemcpy(&total, floats, sizeof total, cudaMemcpyDeviceToHost);
    for (const float value : values)
      in_order += value;
    std::printf("%a %a\n", total, in_order);
  }
  if (chosen("sum_twice")) {
    constexpr int blocks = 16, threads = 128;
    static float values[blocks * threads];
    unsigned random = 1;
    for (float& value : values)
      value = static_cast<float>((random = random * 1664525 + 1013904223) >> 8) / 65536.0F;
    float* on_device = nullptr;
    cudaMalloc(&on_device, sizeof values);
    cudaMemcpy(on_device, values, sizeof values, cudaMemcpyHostToDevice);
    void* arguments[] = {&on_device, &floats};
    cudaLaunchCooperativeKernel(sum_twice, dim3(blocks), dim3(threads), arguments);
    float totals[2], in_order = 0;
    cudaMemcpy(totals, floats, sizeof totals, cudaMemcpyDeviceToHost);
    for (const float value : values)
      in_order += value;
    std::printf("%a %a\n%a\n", totals[0], in_order, totals[1]);
  }
  if (chosen("fail_early")) {
    void* arguments[] = {&ints};
    cudaLaunchCooperativeKernel(fail_early, dim3(200), dim3(64), arguments);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
