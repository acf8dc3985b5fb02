// A 7-point stencil on a cube: each step replaces every inner cell by a mix of itself and its six neighbours,
// as an explicit solver of the heat equation does. The cells on the surface stay as they are.
//
// Usage: stencil3d [SIZE [STEPS]]    default 96 cells along each edge, 2 steps
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <utility>
#include <vector>

constexpr float keep = 0.4f; // of a cell's own value
constexpr float mix = 0.1f;  // of each neighbour's

// x runs fastest: the neighbours in x are in the same line or the next, those in y a row away, those in z a
// whole plane.
__global__ void stencil(unsigned size, const float* in, float* out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= size || y >= size || z >= size)
    return;
  const unsigned row = size;
  const unsigned plane = size * size;
  const unsigned cell = z * plane + y * row + x;
  if (x == 0 || y == 0 || z == 0 || x == size - 1 || y == size - 1 || z == size - 1) {
    out[cell] = in[cell];
    return;
  }
  const float along_x = in[cell - 1] + in[cell + 1];
  const float along_y = in[cell - row] + in[cell + row];
  const float along_z = in[cell - plane] + in[cell + plane];
  out[cell] = keep * in[cell] + mix * (along_x + along_y + along_z);
}

void step_on_host(unsigned size, const std::vector<float>& in, std::vector<float>& out) {
  const std::size_t row = size;
  const std::size_t plane = row * size;
  out = in;
  for (std::size_t z = 1; z + 1 < size; ++z)
    for (std::size_t y = 1; y + 1 < size; ++y)
      for (std::size_t x = 1; x + 1 < size; ++x) {
        const std::size_t cell = z * plane + y * row + x;
        const double neighbours = static_cast<double>(in[cell - 1]) + in[cell + 1] + in[cell - row] +
                                  in[cell + row] + in[cell - plane] + in[cell + plane];
        out[cell] = static_cast<float>(keep * in[cell] + mix * neighbours);
      }
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "stencil3d: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

int main(int argc, char** argv) {
  const long size_asked = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 96;
  const long steps = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 2;
  if (argc > 3 || size_asked < 1 || size_asked > 1024 || steps < 1 || steps > 1000) {
    std::fprintf(stderr, "usage: stencil3d [SIZE [STEPS]], SIZE from 1 to 1024, STEPS from 1 to 1000\n");
    return 2;
  }
  const unsigned size = static_cast<unsigned>(size_asked);
  const std::size_t cells = static_cast<std::size_t>(size) * size * size;
  const std::size_t bytes = cells * sizeof(float);

  std::mt19937 random(3);
  std::vector<float> expected(cells), before, result(cells);
  for (float& cell : expected)
    cell = static_cast<float>(random() >> 8) / (1 << 24); // in [0, 1)

  float* in = nullptr;
  float* out = nullptr;
  check(cudaMalloc(&in, bytes), "in");
  check(cudaMalloc(&out, bytes), "out");
  check(cudaMemcpy(in, expected.data(), bytes, cudaMemcpyHostToDevice), "in");

  const dim3 threads(32, 4, 2);
  const dim3 blocks((size + threads.x - 1) / threads.x, (size + threads.y - 1) / threads.y,
                    (size + threads.z - 1) / threads.z);
  std::printf("stencil3d: %u x %u x %u, %ld steps\n", size, size, size, steps);
  for (long step = 0; step < steps; ++step) {
    stencil<<<blocks, threads>>>(size, in, out);
    check(cudaGetLastError(), "stencil");
    std::swap(in, out);
    before = expected;
    step_on_host(size, before, expected);
  }
  check(cudaMemcpy(result.data(), in, bytes, cudaMemcpyDeviceToHost), "result");
  bool right = true;
  for (std::size_t cell = 0; cell < cells; ++cell)
    right &= std::abs(result[cell] - expected[cell]) <= 1e-5f;
  std::printf("%-12s %s\n", "stencil", right ? "PASS" : "FAIL");
  check(cudaFree(in), "in");
  check(cudaFree(out), "out");
  return right ? 0 : 1;
}
