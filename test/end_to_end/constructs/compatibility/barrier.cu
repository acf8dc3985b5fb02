// A barrier object in shared memory, whose constructor and destructor nvcc does not run.
// probes: 5
// runs on the GPU only
#include <cuda/barrier>
#include <cstdio>

__global__ void turn(int* numbers) {
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  __shared__ int kept[32];
  if (threadIdx.x == 0)
    init(&arrived, 32);
  __syncthreads();
  kept[threadIdx.x] = numbers[threadIdx.x];
  arrived.arrive_and_wait();
  numbers[threadIdx.x] = kept[31 - threadIdx.x];
}

int main() {
  int* numbers;
  cudaMallocManaged(&numbers, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i)
    numbers[i] = i;
  turn<<<1, 32>>>(numbers);
  cudaDeviceSynchronize();
  std::puts(numbers[0] == 31 && numbers[31] == 0 ? "right" : "wrong");
}
