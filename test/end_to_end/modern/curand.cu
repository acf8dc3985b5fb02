// cuRAND's host functions: moments of each distribution, on the device and on the host; equal seeds give equal numbers.
#include <cmath>
#include <cstdio>
#include <curand.h>
#include <vector>

constexpr int count = 100'000;
int wrong = 0;

template <class T> void hold(const char* what, const T* values, double mean, double variance) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    sum += values[i];
    squares += double(values[i]) * values[i];
  }
  const double is = sum / count, spread = squares / count - is * is;
  if (std::fabs(is - mean) > 6 * std::sqrt(variance / count) || std::fabs(spread / variance - 1) > 0.05) {
    std::printf("%s: mean %g for %g, variance %g for %g\n", what, is, mean, spread, variance);
    ++wrong;
  }
}

int main() {
  curandGenerator_t device, host;
  curandCreateGenerator(&device, CURAND_RNG_PSEUDO_XORWOW);
  curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_XORWOW);
  float* floats;
  double* doubles;
  unsigned* integers;
  cudaMallocManaged(&floats, count * sizeof *floats);
  cudaMallocManaged(&doubles, count * sizeof *doubles);
  cudaMallocManaged(&integers, count * sizeof *integers);
  for (const curandGenerator_t generator : {device, host}) {
    curandSetPseudoRandomGeneratorSeed(generator, 42);
    curandGenerateUniform(generator, floats, count);
    curandGenerateNormalDouble(generator, doubles, count, 3, 2);
    curandGeneratePoisson(generator, integers, count, 7.5);
    cudaDeviceSynchronize();
    hold("uniform", floats, 0.5, 1.0 / 12);
    hold("normal", doubles, 3, 4);
    hold("poisson", integers, 7.5, 7.5);
    for (int i = 0; i < count; ++i)
      if (!(floats[i] > 0 && floats[i] <= 1))
        ++wrong;
  }
  const std::vector<float> before(floats, floats + count);
  curandSetPseudoRandomGeneratorSeed(device, 42);
  curandGenerateUniform(device, floats, count);
  cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i)
    if (floats[i] != before[i])
      ++wrong;
  if (curandGenerateNormal(device, floats, 3, 0, 1) != CURAND_STATUS_LENGTH_NOT_MULTIPLE)
    ++wrong;
  curandDestroyGenerator(device);
  curandDestroyGenerator(host);
  std::printf(wrong == 0 ? "all right\n" : "%d wrong\n", wrong);
  return wrong != 0;
}
