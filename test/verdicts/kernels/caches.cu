// What the L1, the L2, constant memory and textures serve.
#include "kernels.h"
#include <cuda_pipeline.h>

// says /uniform: all lanes read one address of weights, of which 256 B are read: `__constant__` memory serves that at once/: the weights are the same for all lanes
// never /poor L1 locality of weights|scattered/: the L1 has them
__global__ void uniform_weights(const float* in, const float* weights, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = in[i];
  for (int k = 0; k < 64; ++k)
    sum = sum * weights[k] + weights[63 - k];
  out[i] = sum;
}

__constant__ float table[1024];

// says /divergent constant reads: [\d.]+ addresses per request, one after the other/: each lane reads another entry
// never /`__constant__` memory serves/: it is there already
__global__ void divergent_constants(const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 16; ++k)
    sum += table[(index[i] + 37 * k) & 1023];
  out[i] = sum;
}

// never /divergent constant reads|`__constant__` memory serves/: all lanes read the same entry
__global__ void uniform_constants(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = in[i];
  for (int k = 0; k < 64; ++k)
    sum = sum * table[k] + 1;
  out[i] = sum;
}

// says /from L2|L2 slices|come from L2/: 16 MB that the L2 keeps are read again and again
// never /streaming|left in L2|DRAM, \d+ % busy/: memory has nothing to do with it
__global__ void l2_resident(const float4* in, float* out, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const float4 v = in[(i + round * 65536) & (n - 1)];
    sum += v.x + v.y + v.z + v.w;
  }
  out[i] = sum;
}

// never /uncoalesced|strided|streaming: .*streaming/: texels of a tile lie side by side in the texture's own layout
__global__ void texture(cudaTextureObject_t image, float* out, int width) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * width + x] = tex2D<float>(image, x + 0.5f, y + 0.5f) + tex2D<float>(image, x + 1.5f, y + 0.5f);
}

// never /poor L1 locality|uncoalesced|not cached in L1/: copies to shared memory pass the L1 by, as they should
__global__ void staged(const float4* in, float* out, int steps) {
  __shared__ float4 buffer[2][256];
  const int t = threadIdx.x;
  const float4* from = in + size_t(blockIdx.x) * 256 * steps + t;
  __pipeline_memcpy_async(&buffer[0][t], from, 16);
  __pipeline_commit();
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps)
      __pipeline_memcpy_async(&buffer[(step + 1) & 1][t], from + 256 * (step + 1), 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float4 v = buffer[step & 1][t];
    sum += v.x + v.y + v.z + v.w;
  }
  out[blockIdx.x * 256 + t] = sum;
}

int main() {
  const int n = 1 << 22;
  float *in = zeros<float>(4 * n), *out = zeros<float>(n), *weights = zeros<float>(64);
  int* index = filled<int>(n, [](std::size_t i) { return int(scattered(i, 1024)); });
  uniform_weights<<<n / 256, 256>>>(in, weights, out, n);
  divergent_constants<<<n / 1024, 256>>>(index, out, n);
  uniform_constants<<<n / 1024, 256>>>(in, out, n);
  l2_resident<<<1024, 256>>>((const float4*)in, out, 1 << 20, 64);
  const int width = 2048;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &format, width, width));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  cudaTextureObject_t image;
  CHECK(cudaCreateTextureObject(&image, &resource, &description, nullptr));
  texture<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(image, out, width);
  staged<<<1024, 256>>>((const float4*)in, out, 4);
  DONE();
}
