// flags: -arch=sm_80
// The services of the system to device code: its heap, clocks, pauses, and printf's result.
#include "check.h"

#include <cuda/std/chrono>

constexpr int threads = 64;

__global__ void heap(int* out) {
  const int t = threadIdx.x;
  int* list = static_cast<int*>(malloc((t + 1) * sizeof(int)));
  struct Node {
    int value;
    Node* next;
  }* nodes = nullptr;
  for (int i = 0; i <= t; ++i) {
    list[i] = i;
    nodes = new Node{i * i, nodes};
  }
  int sum = reinterpret_cast<unsigned long long>(list) % 16 == 0 ? 0 : -1000000;
  for (int i = 0; i <= t; ++i) {
    sum += list[i] + nodes->value;
    Node* next = nodes->next;
    delete nodes;
    nodes = next;
  }
  free(list);
  free(nullptr);
  out[t] = sum;
}

/// A block's threads share what one of them has allocated.
__global__ void shared_heap(int* out) {
  __shared__ int* memory;
  if (threadIdx.x == 0)
    memory = new int[threads];
  __syncthreads();
  memory[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  out[threadIdx.x] = memory[threads - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0)
    delete[] memory;
}

__global__ void clocks(int* out) {
  const long long begin = clock64();
  const clock_t small = clock();
  unsigned long long from, to;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from));
  const auto start = cuda::std::chrono::high_resolution_clock::now();
  while (clock64() - begin < 20000)
    __nanosleep(100);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to));
  const auto passed = cuda::std::chrono::high_resolution_clock::now() - start;
  out[threadIdx.x] = clock64() > begin && to > from && passed.count() > 0 && clock() != small;
}

__global__ void printing(int* out) {
  out[0] = printf("%s", "");
  out[1] = printf("%.0s%.0s%.0s", "a", "b", "c");
}

int main() {
  check<int>("heap", heap, 2, threads, threads, [](int t) {
    int sum = 0;
    for (int i = 0; i <= t; ++i)
      sum += i + i * i;
    return sum;
  });
  check<int>("heap of a block", shared_heap, 1, threads, threads,
             [](int t) { return 3 * (threads - 1 - t); });
  check<int>("clocks", clocks, 1, 8, 8, [](int) { return 1; });
  check<int>("printf's result", printing, 1, 1, 2, [](int i) { return i ? 3 : 1; });
}
