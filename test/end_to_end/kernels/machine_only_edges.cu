// Kernels that the CPU back end has no code for, because of `movmatrix`, and what they share with the rest of a program.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <thread>

__device__ unsigned transposed(unsigned value) {
  unsigned result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(value));
  return result;
}

struct Base {
  __device__ virtual unsigned of(unsigned value) const { return value; }
};
struct Transposed : Base {
  __device__ unsigned of(unsigned value) const override { return transposed(transposed(value)) + 1; }
};
__global__ void by_table(unsigned* out) {
  const Base* const one = out[threadIdx.x] == 5 ? new Transposed : new Base;
  out[threadIdx.x] = one->of(out[threadIdx.x]);
  delete one;
}

__global__ void text(unsigned* out) {
  char local[8] = {'l', 'o', 'c', 'a', 'l', char('0' + transposed(0)), 0, 0};
  __shared__ char shared[8];
  for (int i = 0; i < 8; ++i)
    shared[i] = "shared."[i];
  reinterpret_cast<char*>(out)[threadIdx.x] = threadIdx.x < 6 ? "global"[threadIdx.x] : 0;
  __syncwarp();
  if (threadIdx.x == 0)
    printf("%s %s %s %d\n", local, shared, reinterpret_cast<const char*>(out), int(transposed(0)));
}

__global__ void frees(unsigned* out) {
  if (transposed(0) == 0 && threadIdx.x == 0)
    free(out + 1);
}

__global__ void writes(char* where) {
  where[threadIdx.x] = char(transposed(0));
}

__global__ void lowered(unsigned* counter) {
  atomicAdd(counter, 1u);
}
__global__ void executed(unsigned* counter) {
  atomicAdd(counter, 1u + transposed(0));
}

__global__ void all_together(unsigned* out) {
  atomicAdd(out + 1, 1 + transposed(0));
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0)
    atomicAdd(out, out[1]);
}

static const char constant[64] = "constant";

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  unsigned* out = nullptr;
  cudaMallocManaged(&out, 128);
  for (int i = 0; i < 32; ++i)
    out[i] = is("table") ? 5 : 0;
  if (is("table"))
    by_table<<<1, 32>>>(out);
  if (is("text"))
    text<<<1, 32>>>(out);
  if (is("free"))
    frees<<<1, 32>>>(out);
  if (is("constant"))
    writes<<<1, 32>>>(const_cast<char*>(constant));
  if (is("threads")) {
    const auto launch = [&](void (*kernel)(unsigned*)) {
      for (int i = 0; i < 200; ++i)
        kernel<<<4, 32>>>(out);
    };
    std::thread one(launch, lowered), other(launch, executed);
    one.join();
    other.join();
  }
  if (is("together")) {
    void* parameters[] = {&out};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(all_together), 4, 32, parameters, 0, nullptr);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s, %u\n", cudaGetErrorString(error), out[0]);
}
