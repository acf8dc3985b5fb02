// Quasirandom numbers: points of a low-discrepancy sequence, whose direction numbers lie in constant memory,
// as the exclusive or of those that the bits of a point's number choose; and equally spaced numbers made
// normal, by Moro's approximation of the inverse of the normal distribution.
//
// Usage: quasirandom [POINTS]    2^20
#include "program.h"

constexpr int DIMENSIONS = 3, BITS = 31;

__constant__ unsigned directions[DIMENSIONS][BITS];

__global__ void sequence(float* out, unsigned seed, unsigned points) {
  // The compiler of the measured kernel kept them in registers: 47,616 loads in a launch, one for each warp.
  unsigned mine[BITS];
#pragma unroll
  for (int bit = 0; bit < BITS; ++bit)
    mine[bit] = directions[threadIdx.y][bit];
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += gridDim.x * blockDim.x) {
    unsigned number = seed + i, result = 0;
#pragma unroll
    for (int bit = 0; bit < BITS; ++bit, number >>= 1)
      if (number & 1)
        result ^= mine[bit];
    out[threadIdx.y * points + i] = float(result + 1) * (1.0f / 0x80000001u);
  }
}

/// Returns the number below which a normal variable is with a probability of x / 2^32.
__device__ float inverse_normal(unsigned x) {
  const bool is_upper = x >= 0x80000000u;
  const float whole = 1.0f / float(0xffffffffu);
  const float p = (is_upper ? 0xffffffffu - x : x) * whole + whole / 2, q = p - 0.5f;
  float z;
  if (q > -0.42f) {
    z = q * q;
    z = q * (((-25.44106049637f * z + 41.39119773534f) * z + -18.61500062529f) * z + 2.50662823884f) /
        ((((3.13082909833f * z + -21.06224101826f) * z + 23.08336743743f) * z + -8.4735109309f) * z + 1.0f);
  } else {
    z = __logf(-__logf(p));
    z = -(
        0.337475482272615f +
        z * (0.976169019091719f +
             z * (0.160797971491821f +
                  z * (2.76438810333863e-2f +
                       z * (3.8405729373609e-3f +
                            z * (3.951896511919e-4f +
                                 z * (3.21767881768e-5f + z * (2.888167364e-7f + z * 3.960315187e-7f))))))));
  }
  return is_upper ? -z : z;
}

__global__ void normal(float* out, const unsigned* in, unsigned count) {
  const unsigned apart = 0xffffffffu / (count + 1);
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  if (in != nullptr)
    for (unsigned i = first; i < count; i += step)
      out[i] = inverse_normal(in[i]);
  else
    for (unsigned i = first; i < count; i += step)
      out[i] = inverse_normal((i + 1) * apart);
}

int main(int count, char** values) {
  const unsigned points = argument(count, values, 1, 1u << 20);
  std::vector<unsigned> numbers(DIMENSIONS * BITS);
  for (unsigned i = 0; i < numbers.size(); ++i)
    numbers[i] = (i + 1) * 2654435761u >> 1;
  cudaMemcpyToSymbol(directions, numbers.data(), numbers.size() * sizeof(unsigned));
  float* out = allocate<float>(DIMENSIONS * points);
  sequence<<<128, dim3(128, DIMENSIONS)>>>(out, 0, points);
  normal<<<128, 128>>>(out, nullptr, DIMENSIONS * points);
  return finish();
}
