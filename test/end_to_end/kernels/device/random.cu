// flags: -arch=sm_80
// cuRAND's device API: each generator's sequence against its definition, and the distributions against
// moments.
#include "check.h"

#include <cmath>
#include <cstdint>
#include <curand_kernel.h>

constexpr int count = 64;

__global__ void xorwow(unsigned* out) {
  curandState state;
  curand_init(1234, 0, 0, &state);
  for (int i = 0; i < 5; ++i)
    out[i] = state.v[i];
  out[5] = state.d;
  for (int i = 0; i < count; ++i)
    out[6 + i] = curand(&state);
}

/// Checks that skipping ahead equals as many calls.
__global__ void skipped(unsigned* out) {
  curandState calling, skipping;
  curand_init(99, 3, 0, &calling);
  curand_init(99, 3, 17, &skipping);
  for (int i = 0; i < 17; ++i)
    curand(&calling);
  out[0] = curand(&calling) - curand(&skipping);
  curandStateMRG32k3a mrg, mrg_ahead;
  curand_init(99, 3, 0, &mrg);
  curand_init(99, 3, 9, &mrg_ahead);
  for (int i = 0; i < 9; ++i)
    curand(&mrg);
  out[1] = curand(&mrg) - curand(&mrg_ahead);
}

__global__ void philox(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(0x123456789abcdefULL, threadIdx.x, 0, &state);
  const uint4 first = curand4(&state), second = curand4(&state);
  const unsigned values[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
  for (int i = 0; i < 8; ++i)
    out[8 * threadIdx.x + i] = values[i];
}

__global__ void mrg(double* out) {
  curandStateMRG32k3a state;
  curand_init(42, 0, 0, &state);
  for (int i = 0; i < 3; ++i) {
    out[i] = state.s1[i];
    out[3 + i] = state.s2[i];
  }
  for (int i = 0; i < count; ++i)
    out[6 + i] = curand_uniform_double(&state);
}

/// Checks the first dimension of Sobol's sequence: van der Corput's, in Gray code order.
__global__ void sobol(unsigned* out) {
  unsigned vectors[32];
  for (int i = 0; i < 32; ++i)
    vectors[i] = 0x80000000U >> i;
  curandStateSobol32 state;
  curand_init(vectors, 0, &state);
  for (int i = 0; i < count; ++i)
    out[i] = curand(&state);
}

/// Computes the sums of x and x² of each distribution.
__global__ void moments(double* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
  double sums[8] = {};
  for (int i = 0; i < 256; ++i) {
    const double values[4] = {curand_uniform(&state), curand_normal(&state),
                              curand_log_normal(&state, 0, 0.25f),
                              static_cast<double>(curand_poisson(&state, 4))};
    for (int k = 0; k < 4; ++k) {
      sums[2 * k] += values[k];
      sums[2 * k + 1] += values[k] * values[k];
    }
  }
  for (int k = 0; k < 8; ++k)
    atomicAdd(out + k, sums[k]);
}

int main() {
  // Marsaglia, "Xorshift RNGs": xorwow.
  static unsigned made[6 + count];
  unsigned* words;
  cudaMallocManaged(&words, 4096);
  xorwow<<<1, 1>>>(words);
  cudaDeviceSynchronize();
  for (int i = 0; i < 6; ++i)
    made[i] = words[i];
  unsigned x = made[0], y = made[1], z = made[2], w = made[3], v = made[4], d = made[5];
  bool right = true;
  for (int i = 0; i < count; ++i) {
    const unsigned t = x ^ (x >> 2);
    x = y, y = z, z = w, w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    d += 362437;
    right = right && words[6 + i] == v + d;
  }
  std::printf("XORWOW: %s\n", right ? "right" : "wrong");
  check<unsigned>("skipping", skipped, 1, 1, 2, [](int) { return 0; });

  // Salmon et al., "Parallel random numbers: as easy as 1, 2, 3": Philox4x32-10.
  philox<<<1, 2>>>(words);
  cudaDeviceSynchronize();
  right = true;
  for (unsigned thread = 0; thread < 2; ++thread)
    for (unsigned call = 0; call < 2; ++call) {
      unsigned c[4] = {call, 0, thread, 0}, k[2] = {0x89abcdefU, 0x01234567U};
      for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = 0xD2511F53ULL * c[0], second = 0xCD9E8D57ULL * c[2];
        const unsigned next[4] = {
            static_cast<unsigned>(second >> 32) ^ c[1] ^ k[0], static_cast<unsigned>(second),
            static_cast<unsigned>(first >> 32) ^ c[3] ^ k[1], static_cast<unsigned>(first)};
        for (int i = 0; i < 4; ++i)
          c[i] = next[i];
        k[0] += 0x9E3779B9U;
        k[1] += 0xBB67AE85U;
      }
      for (int i = 0; i < 4; ++i)
        right = right && words[8 * thread + 4 * call + i] == c[i];
    }
  std::printf("Philox: %s\n", right ? "right" : "wrong");

  // L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators".
  double* numbers;
  cudaMallocManaged(&numbers, 4096);
  mrg<<<1, 1>>>(numbers);
  cudaDeviceSynchronize();
  std::int64_t s1[3], s2[3];
  for (int i = 0; i < 3; ++i) {
    s1[i] = static_cast<std::int64_t>(numbers[i]);
    s2[i] = static_cast<std::int64_t>(numbers[3 + i]);
  }
  right = true;
  constexpr std::int64_t m1 = 4294967087, m2 = 4294944443;
  for (int i = 0; i < count; ++i) {
    const std::int64_t p1 = ((1403580 * s1[1] - 810728 * s1[0]) % m1 + m1) % m1,
                       p2 = ((527612 * s2[2] - 1370589 * s2[0]) % m2 + m2) % m2;
    s1[0] = s1[1], s1[1] = s1[2], s1[2] = p1;
    s2[0] = s2[1], s2[1] = s2[2], s2[2] = p2;
    const std::int64_t difference = p1 > p2 ? p1 - p2 : p1 - p2 + m1;
    right = right && std::fabs(numbers[6 + i] - difference * (1.0 / (m1 + 1))) < 1e-9;
  }
  std::printf("MRG32k3a: %s\n", right ? "right" : "wrong");

  check<unsigned>("Sobol", sobol, 1, 1, count, [](int i) {
    const unsigned gray = static_cast<unsigned>(i) ^ (static_cast<unsigned>(i) >> 1);
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit)
      reversed |= (gray >> bit & 1) << (31 - bit);
    return reversed;
  });

  for (int i = 0; i < 8; ++i)
    numbers[i] = 0;
  moments<<<4, 64>>>(numbers);
  cudaDeviceSynchronize();
  const double samples = 4 * 64 * 256, spread = 0.25 * 0.25;
  const double means[4] = {0.5, 0, std::exp(spread / 2), 4},
               variances[4] = {1 / 12.0, 1, (std::exp(spread) - 1) * std::exp(spread), 4};
  right = true;
  for (int k = 0; k < 4; ++k) {
    const double mean = numbers[2 * k] / samples, variance = numbers[2 * k + 1] / samples - mean * mean;
    // Five standard errors of the mean; the variance within 5 %.
    right = right && std::fabs(mean - means[k]) < 5 * std::sqrt(variances[k] / samples) &&
            std::fabs(variance / variances[k] - 1) < 0.05;
  }
  std::printf("distributions: %s\n", right ? "right" : "wrong");
}
