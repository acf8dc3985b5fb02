// A step of a lattice-Boltzmann flow: 19 populations a cell, each in an array of its own, which are streamed
// in place. The half of them that come from neighbours are loaded from there, and what goes to neighbours is
// stored where these were. Populations are stored as floats, as halves, or in 16 bits that integers convert.
//
// Usage: lattice TYPE [WIDTH]    0 for floats, 1 for halves, 2 for the other 16 bits; cells of a side, 256
#include "program.h"

#include <cuda_fp16.h>

constexpr int DIRECTIONS = 19;
constexpr unsigned char SOLID = 1;

/// A sign, four bits of exponent and eleven of mantissa.
struct Compact {
  unsigned short bits;
};

__device__ float number_of(float stored) {
  return stored;
}

/// Halves hold 32,768 times the population.
__device__ float number_of(__half stored) {
  return __half2float(stored) * 0x1p-15f;
}

__device__ float number_of(Compact stored) {
  const unsigned mantissa = stored.bits & 0x7ffu, magnitude = stored.bits & 0x7fffu;
  const unsigned normal = (magnitude << 12) + (112 << 23);
  const int shift = __clz(mantissa) - 20; // until its first bit is the one that is not stored
  const unsigned small = 113 - shift << 23 | (mantissa << shift & 0x7ffu) << 12;
  const unsigned number = magnitude > 0x7ffu ? normal : mantissa != 0 ? small : 0;
  return __uint_as_float((stored.bits & 0x8000u) << 16 | number);
}

__device__ void keep(float& place, float number) {
  place = number;
}

__device__ void keep(__half& place, float number) {
  place = __float2half_rn(number * 0x1p15f);
}

__device__ void keep(Compact& place, float number) {
  const unsigned bits = __float_as_uint(number), magnitude = bits & 0x7fffffffu, exponent = magnitude >> 23;
  const unsigned normal = min(magnitude + 0x800u - (112 << 23) >> 12, 0x7fffu);
  const unsigned shift = min(125 - exponent, 25u), significand = magnitude & 0x7fffffu | 0x800000u;
  const unsigned small = significand + (1u << shift - 1) >> shift;
  place.bits = (bits & 0x80000000u) >> 16 | (exponent > 112 ? normal : small);
}

/// Directions 2i + 1 and 2i + 2 are opposite; direction 0 stays.
template <class Stored>
__global__ void stream_and_collide(Stored* populations, const unsigned char* flags, int width,
                                   float relaxation) {
  constexpr int dx[] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0};
  constexpr int dy[] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 1, -1};
  constexpr int dz[] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, -1, 1, -1, 1};
  const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x, cells = width * width * width;
  if (cell >= cells || flags[cell] == SOLID)
    return;

  const int x = cell % width, y = cell / width % width, z = cell / width / width;
  const int xs[] = {x == 0 ? width - 1 : x - 1, x, x == width - 1 ? 0 : x + 1};
  const int ys[] = {y == 0 ? width - 1 : y - 1, y, y == width - 1 ? 0 : y + 1};
  const int zs[] = {z == 0 ? width - 1 : z - 1, z, z == width - 1 ? 0 : z + 1};
  unsigned neighbours[DIRECTIONS];
#pragma unroll
  for (int i = 1; i < DIRECTIONS; i += 2)
    neighbours[i] = (zs[dz[i] + 1] * width + ys[dy[i] + 1]) * width + xs[dx[i] + 1];

  float f[DIRECTIONS];
  f[0] = number_of(populations[cell]);
#pragma unroll
  for (int i = 1; i < DIRECTIONS; i += 2) {
    f[i] = number_of(populations[(i + 1) * cells + cell]);
    f[i + 1] = number_of(populations[i * cells + neighbours[i]]);
  }

  float density = f[0], ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int i = 1; i < DIRECTIONS; ++i) {
    density += f[i];
    ux += dx[i] * f[i];
    uy += dy[i] * f[i];
    uz += dz[i] * f[i];
  }
  ux /= density;
  uy /= density;
  uz /= density;
  const float still = 1 - 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int i = 0; i < DIRECTIONS; ++i) {
    const int steps = dx[i] * dx[i] + dy[i] * dy[i] + dz[i] * dz[i];
    const float weight = steps == 0 ? 1 / 3.f : steps == 1 ? 1 / 18.f : 1 / 36.f;
    const float along = 3 * (dx[i] * ux + dy[i] * uy + dz[i] * uz);
    f[i] += relaxation * (weight * density * (still + along * (1 + 0.5f * along)) - f[i]);
  }

  keep(populations[cell], f[0]);
#pragma unroll
  for (int i = 1; i < DIRECTIONS; i += 2) {
    keep(populations[i * cells + neighbours[i]], f[i]);
    keep(populations[(i + 1) * cells + cell], f[i + 1]);
  }
}

template <class Stored> int run(unsigned width) {
  const std::size_t cells = std::size_t(width) * width * width;
  Stored* populations = allocate<Stored>(DIRECTIONS * cells);
  unsigned char* flags = allocate<unsigned char>(cells);
  cudaMemset(flags, 0, cells);
  constexpr int threads = 64;
  stream_and_collide<<<cells / threads, threads>>>(populations, flags, width, 1.5f);
  return finish();
}

int main(int count, char** values) {
  const unsigned type = argument(count, values, 1, 0), width = argument(count, values, 2, 256);
  return type == 0 ? run<float>(width) : type == 1 ? run<__half>(width) : run<Compact>(width);
}
