#include <cstdio>

void launch_scale(float* a, float by);

int main() {
  float* a;
  cudaMalloc(&a, 64 * sizeof(float));
  cudaMemset(a, 0, 64 * sizeof(float));
  launch_scale(a, 2);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
