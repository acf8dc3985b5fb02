// A 7-point stencil on a cube: every inner cell becomes a mix of itself and its six neighbours.
#include "program.h"

constexpr float keep = 0.4f, mix = 0.1f;

__global__ void stencil(unsigned size, const float* in, float* out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x == 0 || y == 0 || z == 0 || x >= size - 1 || y >= size - 1 || z >= size - 1)
    return;
  const unsigned row = size, plane = size * size;
  const unsigned cell = z * plane + y * row + x;
  out[cell] = keep * in[cell] + mix * (in[cell - 1] + in[cell + 1] + in[cell - row] + in[cell + row] +
                                       in[cell - plane] + in[cell + plane]);
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, 32, 512, true);
  const unsigned size = program.size(), row = size, plane = size * size;
  reference::Random random(7);
  const auto values = random.fractions(std::size_t{plane} * size);
  const reference::Array<float> in(values), out(values);

  const dim3 threads(32, 4, 2), blocks(size / 32, size / 4, size / 2);
  program.measure("stencil", [&] { stencil<<<blocks, threads>>>(size, in.data(), out.data()); });

  const auto result = out.values();
  bool right = true;
  for (unsigned z = 1; z + 1 < size; ++z)
    for (unsigned y = 1; y + 1 < size; ++y)
      for (unsigned x = 1; x + 1 < size; ++x) {
        const unsigned cell = z * plane + y * row + x;
        const double neighbours = static_cast<double>(values[cell - 1]) + values[cell + 1] +
                                  values[cell - row] + values[cell + row] + values[cell - plane] +
                                  values[cell + plane];
        right &= std::abs(result[cell] - (keep * values[cell] + mix * neighbours)) < 1e-5;
      }
  program.judge("stencil", right);
  return program.exit_code();
}
