// A file like the rewriter's output: every kind of probe, a scope in each kernel, the site table. Runs on a GPU if there is one.
#include <warplens/probe.h>

#include <cstdio>

struct Particle {
  float position[3];
  int kind;
};

template <class T> __device__ T twice(const T* values, int i) { return 2 * (*::warplens::load(11, &(values[i]))); }

__host__ __device__ constexpr int sum(const int* values, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i)
    total += (*::warplens::load(12, &(values[i])));
  return total;
}

template <class T> __global__ void scale(T* out, const T* in, const Particle* particles, unsigned* counter, int count) {
  ::warplens::KernelScope warplens_scope;
  __shared__ T tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  (*::warplens::store(13, &(tile[threadIdx.x]))) = twice(in, i);
  __syncwarp();
  const Particle particle = (*::warplens::load(14, &(particles[i])));
  (*::warplens::store(15, &(out[i]))) = (*::warplens::load(16, &(tile[threadIdx.x ^ 1]))) + particle.kind;
  (*::warplens::update(17, &(out[i]))) += T(__ldg(::warplens::load(18, in + i)));
  constexpr int three[] = {1, 1, 1};
  constexpr int total = sum(three, 3);
  atomicAdd(::warplens::atomic(19, counter), unsigned(total));
}

__global__ void fetch(float* out, cudaTextureObject_t texture, int count) {
  ::warplens::KernelScope warplens_scope;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    (*::warplens::store(21, &(out[i]))) = tex1Dfetch<float>(::warplens::Texture(20, texture), i);
}

namespace {
const ::warplens::SiteRecord warplens_sites[] = {
    {11, "instrumented.cu", 11, 75, "values[i]", 0, 0, 0, 4, 0, "values", nullptr, 0},
    {12, "instrumented.cu", 16, 39, "values[i]", 0, 0, 0, 4, 0, "values", nullptr, 0},
    {13, "instrumented.cu", 26, 31, "tile[threadIdx.x]", 1, 2, 0, 4, 0, "tile", nullptr, 0},
    {14, "instrumented.cu", 28, 57, "particles[i]", 0, 1, 0, 16, 0, "particles", nullptr, 0},
    {15, "instrumented.cu", 29, 31, "out[i]", 1, 1, 0, 4, 0, "out", nullptr, 0},
    {16, "instrumented.cu", 29, 69, "tile[threadIdx.x ^ 1]", 0, 2, 0, 4, 0, "tile", nullptr, 0},
    {17, "instrumented.cu", 30, 32, "out[i]", 2, 1, 0, 4, 0, "out", nullptr, 0},
    {18, "instrumented.cu", 30, 75, "in + i", 0, 1, 8, 4, 0, "in", nullptr, 0},
    {19, "instrumented.cu", 33, 36, "counter", 3, 1, 0, 4, 0, "counter", nullptr, 0},
    {20, "instrumented.cu", 40, 43, "tex1Dfetch<float>(texture, i)", 0, 1, 9, 4, 0, "texture", nullptr, 0},
    {21, "instrumented.cu", 40, 31, "out[i]", 1, 1, 0, 4, 0, "out", nullptr, 0},
};
const ::warplens::RegisterSites warplens_register(warplens_sites, 11);
} // namespace

int main() {
  constexpr int count = 1000;
  float *out = nullptr, *in = nullptr;
  Particle* particles = nullptr;
  unsigned* counter = nullptr;
  cudaMallocManaged(&out, count * sizeof(float));
  cudaMallocManaged(&in, count * sizeof(float));
  cudaMalloc(&particles, count * sizeof(Particle));
  cudaMalloc(&counter, sizeof(unsigned));
  cudaMemset(particles, 0, count * sizeof(Particle));
  for (int i = 0; in && i < count; ++i)
    in[i] = i;
  scale<<<(count + 127) / 128, 128>>>(out, in, particles, counter, count);
  cudaLaunchConfig_t config = {};
  config.gridDim = (count + 127) / 128;
  config.blockDim = 128;
  cudaLaunchKernelEx(&config, scale<float>, out, static_cast<const float*>(in), static_cast<const Particle*>(particles),
                     counter, count);
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorName(error));
    return 3;
  }
  for (int i = 0; i < count; ++i)
    if (out[i] != 2.f * in[i ^ 1] + in[i]) {
      std::printf("out[%d] is %g\n", i, out[i]);
      return 1;
    }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = count * sizeof(float);
  const cudaTextureDesc plain = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &plain, nullptr);
  fetch<<<(count + 127) / 128, 128>>>(out, texture, count);
  cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i)
    if (out[i] != in[i]) {
      std::printf("of the texture out[%d] is %g\n", i, out[i]);
      return 1;
    }
  std::puts("right");
}
