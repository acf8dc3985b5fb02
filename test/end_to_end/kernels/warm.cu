// The remains of each step in the L2 for the next: copies, launches, and an unseen launch (all kernels
// are traced once).
#include <cstdio>
#include <vector>

constexpr int elements = 1 << 18; // 1 MiB of float: a fraction of an A100's L2
constexpr int threads = 256;

__global__ void add(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + 1; // site: add
}

__global__ void scale(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = 2 * from[i]; // site: scale
}

__global__ void negate(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = -from[i]; // site: negate
}

__global__ void copy(const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i]; // site: copy
}

int main() {
  float *a, *b, *c;
  const std::size_t bytes = elements * sizeof(float);
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  const std::vector<float> ones(elements, 1);

  cudaMemcpy(a, ones.data(), bytes, cudaMemcpyHostToDevice);
  add<<<elements / threads, threads>>>(a, b);   // reads the copied data
  scale<<<elements / threads, threads>>>(b, c); // reads the output of the launch before
  add<<<elements / threads, threads>>>(a, b);   // the second launch of its kernel: untraced
  negate<<<elements / threads, threads>>>(b, c);
  add<<<elements / threads, threads>>>(c, a);
  cudaMemset(b, 0, bytes);
  copy<<<elements / threads, threads>>>(b, c); // an untraced launch, then a fill

  std::vector<float> result(elements);
  cudaMemcpy(result.data(), a, bytes, cudaMemcpyDeviceToHost);
  bool right = cudaGetLastError() == cudaSuccess;
  for (const float value : result)
    right &= value == -1;
  std::printf("%s\n", right ? "right" : "wrong");
  return !right;
}
