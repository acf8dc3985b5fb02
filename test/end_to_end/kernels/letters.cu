// Macros of the command line that are one letter: -DN=256 -DX -DY=2.
#include <cstdio>

__global__ void add(int* out) {
  if (threadIdx.x < N)
    out[threadIdx.x] = X + Y;
}

int main() {
  int* out;
  cudaMallocManaged(&out, N * sizeof(int));
  add<<<1, 512>>>(out);
  bool right = cudaDeviceSynchronize() == cudaSuccess;
  for (int i = 0; i < N; ++i)
    right = right && out[i] == 3;
  std::printf("letters: %s\n", right ? "right" : "wrong");
}
