// Functions of each element of an array, four elements a thread.
//
// Usage: activations [ELEMENTS]    2^25
#include "program.h"

__device__ float sigmoid_of(float x) {
  return 1 / (1 + expf(-x));
}

__global__ void sigmoid(const float4* in, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const float4 x = in[i];
  out[i] = {sigmoid_of(x.x), sigmoid_of(x.y), sigmoid_of(x.z), sigmoid_of(x.w)};
}

__global__ void relu(const float4* in, float4* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  const float4 x = in[i];
  out[i] = {fmaxf(x.x, 0), fmaxf(x.y, 0), fmaxf(x.z, 0), fmaxf(x.w, 0)};
}

int main(int count, char** values) {
  const std::size_t elements = argument(count, values, 1, 1u << 25);
  const float4* in = (const float4*)allocate<float>(elements);
  float4* out = (float4*)allocate<float>(elements);
  constexpr int threads = 256;
  const int vectors = elements / 4, blocks = (vectors + threads - 1) / threads;
  sigmoid<<<blocks, threads>>>(in, out, vectors);
  relu<<<blocks, threads>>>(in, out, vectors);
  return finish();
}
