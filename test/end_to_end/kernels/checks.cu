// The faults that --racecheck, --initcheck and --synccheck find, one kernel each, chosen by the first argument; the lines that
// messages name are marked.
#include <cstdio>
#include <cstring>
#include <cuda/barrier>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

// --racecheck

__global__ void read_then_written(float* out) {
  __shared__ float s[4];
  int t = threadIdx.x;
  if (t % 32 == 0)
    s[t / 32] = t;
  __syncthreads();
  float first = s[0]; // site: read of old
  __syncwarp();
  if (t % 32 == 0)
    s[t / 32] = first + t; // site: write of new
  __syncthreads();
  out[blockIdx.x * 128 + t] = first + s[t / 32];
}
__global__ void lock_step(float* out) {
  __shared__ float tile[64];
  volatile float* s = tile;
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32]; // site: written in lock step
    s[t] += s[t + 16]; // site: read in lock step
  }
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[0];
}
__global__ void scan_in_lock_step(float* out) {
  __shared__ float tile[64];
  volatile float* s = tile + 32;
  int t = threadIdx.x;
  tile[t] = 0;
  s[t] = t;
  s[t] += s[t - 1];
  s[t] += s[t - 2];
  s[t] += s[t - 4];
  s[t] += s[t - 8];
  s[t] += s[t - 16];
  out[blockIdx.x * 32 + t] = s[t];
}
__global__ void written_twice(float* out) {
  __shared__ float s;
  s = threadIdx.x; // site: written twice
  __syncthreads();
  out[threadIdx.x] = s;
}
__global__ void all_in_order(float* out) {
  __shared__ float s[128];
  __shared__ unsigned char bytes[128];
  __shared__ int sum;
  __shared__ cuda::barrier<cuda::thread_scope_block> all;
  int t = threadIdx.x;
  if (t == 0) {
    init(&all, 128);
    sum = 0;
  }
  s[t] = t;
  bytes[t] = t; // neighbours write to one word
  __syncthreads();
  atomicAdd(&sum, bytes[t ^ 1]);
  float x = s[t ^ 32];
  __syncthreads();
  s[t] = x + sum;
  __syncwarp();
  x += s[t ^ 1];
  if (t < 64) { // two warps meet at a barrier of their own
    asm volatile("bar.sync 1, 64;" ::: "memory");
    s[t ^ 32] = x;
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  all.arrive_and_wait();
  x += s[t ^ 64];
  all.arrive_and_wait();
  s[t] = x;
  if (t >= 96) { // one warp signals its work to the others, and goes on
    s[t] = 5;
    asm volatile("bar.arrive 2, 64;" ::: "memory");
  } else if (t < 32) {
    asm volatile("bar.sync 2, 64;" ::: "memory");
    x += s[t + 96];
  }
  out[blockIdx.x * 128 + t] = x;
}

// In global memory.
__device__ int counter;
__global__ void between_blocks(int* out) {
  if (threadIdx.x == 0)
    out[0] += 1; // site: counted by blocks
}
__global__ void within_a_block(int* out) {
  out[threadIdx.x] = threadIdx.x; // site: written by a neighbour
  out[64 + threadIdx.x] = out[threadIdx.x ^ 32]; // site: read of a neighbour
}
__global__ void in_a_variable(int* out) {
  if (threadIdx.x == 0)
    counter = blockIdx.x; // site: variable of all blocks
}
__global__ void blocks_in_order(int* out) { // each block adds up its part; the last one adds up the blocks'
  __shared__ bool is_last;
  int t = threadIdx.x;
  atomicAdd(&out[900], 1);
  out[blockIdx.x * 64 + t] = t;
  __threadfence();
  __syncthreads();
  if (t == 0) {
    out[512 + blockIdx.x] = 64;
    __threadfence();
    is_last = atomicInc((unsigned*)&out[800], gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    int sum = 0;
    for (int block = 0; block < gridDim.x; ++block)
      sum += out[512 + block] + out[block * 64 + t];
    out[640 + t] = sum;
  }
}
__global__ void without_fence(int* out) {
  if (threadIdx.x == 0) {
    out[512 + blockIdx.x] = 64; // site: not published
    if (atomicInc((unsigned*)&out[800], gridDim.x) == gridDim.x - 1)
      out[700] = out[512] + out[513]; // site: read unpublished
  }
}
__global__ void flag_by_volatile(int* out) {
  volatile int* flag = out + 1000;
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    out[0] = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[1] = out[0];
  }
}

// Asynchronous copies.
__global__ void copied_and_waited(float* out, const float* in) {
  __shared__ float s[128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[64 + t], &in[64 + t], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float x = s[t ^ 1];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = x + s[64 + (t ^ 1)];
}
__global__ void copied_without_waiting(float* out, const float* in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4); // site: copied
  __pipeline_commit();
  out[t] = s[t]; // site: read while copied
  __pipeline_wait_prior(0);
}
__global__ void waited_by_one_group_too_few(float* out, const float* in) {
  __shared__ float s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t], 4); // site: copied last
  __pipeline_commit();
  __pipeline_wait_prior(1);
  out[t] = s[t]; // site: read one group too early
}

// --initcheck

__global__ void read_device(float* out, const float* in) {
  out[threadIdx.x] = in[threadIdx.x]; // site: device memory
}
__global__ void read_shared(float* out) {
  __shared__ float s[65];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1]; // site: shared memory
}

// --synccheck

__global__ void without_itself(int* out) {
  if (threadIdx.x < 32)
    out[threadIdx.x] = __shfl_xor_sync(0x7fffffff, threadIdx.x, 1); // site: without itself
}
__global__ void with_ended(int* out) {
  if (threadIdx.x >= 48)
    return;
  __syncwarp(); // site: with ended
  out[threadIdx.x] = threadIdx.x;
}
__global__ void apart(int* out) {
  if (threadIdx.x % 2)
    __syncthreads(); // site: odd
  else
    __syncthreads(); // site: even
  out[threadIdx.x] = 1;
}
__global__ void left_out(int* out) {
  if (threadIdx.x % 32 < 16)
    __syncthreads(); // site: left out
  out[threadIdx.x] = 1;
}
__global__ void several_barriers(int* out) {
  if (threadIdx.x < 32)
    __syncthreads(); // site: barrier of the first warp
  else
    __syncthreads(); // site: barrier of the second warp
  out[threadIdx.x] = 1;
}
__global__ void in_agreement(int* out) {
  if (threadIdx.x >= 32)
    __syncwarp();
  __syncthreads();
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, threadIdx.x, 1);
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  float *out, *in;
  cudaMalloc(&out, 4096);
  cudaMalloc(&in, 4096);
  if (is("read_then_written"))
    read_then_written<<<2, 128>>>(out);
  else if (is("lock_step"))
    lock_step<<<2, 64>>>(out);
  else if (is("scan_in_lock_step"))
    scan_in_lock_step<<<2, 32>>>(out);
  else if (is("written_twice"))
    written_twice<<<1, 64>>>(out);
  else if (is("all_in_order"))
    all_in_order<<<2, 128>>>(out);
  else if (is("read_device")) {
    cudaMemset(in, 0, 100);
    read_device<<<1, 64>>>(out, in);
  } else if (is("all_written")) {
    static float host[1024];
    cudaMemcpy(in, host, 64 * sizeof(float), cudaMemcpyHostToDevice);
    read_device<<<1, 64>>>(out, in);
    read_device<<<1, 64>>>(in, out);
    cudaMemcpy(out + 512, out, 64 * sizeof(float), cudaMemcpyDeviceToDevice);
    read_device<<<1, 64>>>(in, out + 512);
    float* managed;
    cudaMallocManaged(&managed, 4096);
    managed[0] = 1;
    read_device<<<1, 1>>>(in, managed);
  } else if (is("read_shared"))
    read_shared<<<2, 64>>>(out);
  else if (is("without_itself"))
    without_itself<<<1, 64>>>((int*)out);
  else if (is("with_ended"))
    with_ended<<<1, 64>>>((int*)out);
  else if (is("apart"))
    apart<<<1, 64>>>((int*)out);
  else if (is("between_blocks"))
    between_blocks<<<8, 32>>>((int*)out);
  else if (is("within_a_block"))
    within_a_block<<<1, 64>>>((int*)out);
  else if (is("in_a_variable"))
    in_a_variable<<<4, 32>>>((int*)out);
  else if (is("blocks_in_order")) {
    cudaMemset(out, 0, 4096);
    blocks_in_order<<<8, 64>>>((int*)out);
  } else if (is("without_fence")) {
    cudaMemset(out, 0, 4096);
    without_fence<<<2, 64>>>((int*)out);
  } else if (is("flag_by_volatile")) {
    cudaMemset(out, 0, 4096);
    flag_by_volatile<<<2, 32>>>((int*)out);
  } else if (is("copied_and_waited"))
    copied_and_waited<<<1, 64>>>(out, in);
  else if (is("copied_without_waiting"))
    copied_without_waiting<<<1, 64>>>(out, in);
  else if (is("waited_by_one_group_too_few"))
    waited_by_one_group_too_few<<<1, 64>>>(out, in);
  else if (is("left_out"))
    left_out<<<1, 64>>>((int*)out);
  else if (is("several_barriers"))
    several_barriers<<<1, 64>>>((int*)out);
  else
    in_agreement<<<1, 64>>>((int*)out);
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
