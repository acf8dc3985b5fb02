// Launches with an access policy window: that of their stream, one of their own, one whose lines do not
// persist, and none.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int n = 1 << 12;

__global__ void by_stream(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
__global__ void by_launch(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
__global__ void streaming(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
__global__ void without(float* x) {
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

cudaAccessPolicyWindow window_of(float* x, cudaAccessProperty property) {
  cudaAccessPolicyWindow window{};
  window.base_ptr = x;
  window.num_bytes = n * sizeof(float);
  window.hitRatio = 0.5f;
  window.hitProp = property;
  window.missProp = cudaAccessPropertyStreaming;
  return window;
}

int main() {
  float* x;
  cudaStream_t stream;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaStreamCreate(&stream);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20);
  cudaStreamAttrValue value{};
  value.accessPolicyWindow = window_of(x, cudaAccessPropertyPersisting);
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
  by_stream<<<n / 256, 256, 0, stream>>>(x);

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeAccessPolicyWindow;
  attribute.val.accessPolicyWindow = window_of(x, cudaAccessPropertyPersisting);
  cudaLaunchConfig_t config{};
  config.gridDim = n / 256;
  config.blockDim = 256;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, by_launch, x);
  attribute.val.accessPolicyWindow = window_of(x, cudaAccessPropertyStreaming);
  cudaLaunchKernelEx(&config, streaming, x);
  without<<<n / 256, 256>>>(x);
  float first = 0;
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
  std::puts(first == 4 ? "right" : "wrong");
}
