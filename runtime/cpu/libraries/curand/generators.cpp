// cuRAND's host functions with pseudo-random generators. Each is Philox 4x32-10 with the program's seed
// (Salmon and others, SC 2011), so that results repeat and have the distribution that was asked for, but are
// not the numbers that cuRAND makes: in which order its threads' sequences lie in the output is not
// published.
#include "runtime/cpu/cudart/library_call.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <curand.h>
#include <limits>
#include <numbers>
#include <random>

struct curandGenerator_st {
  bool is_on_host = false;
  std::uint64_t seed = 0, offset = 0, position = 0; ///< the next number of 32 bits is that behind both
  cudaStream_t stream = nullptr;
};

namespace {

using Block = std::array<std::uint32_t, 4>;

/// The sequence of 32-bit numbers with a seed, from an offset on.
class Philox {
public:
  using result_type = std::uint32_t;
  Philox(std::uint64_t seed, std::uint64_t offset) : seed_(seed), next_(offset) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() {
    if (next_ / 4 != number_)
      block_ = block(number_ = next_ / 4);
    return block_[next_++ % 4];
  }

private:
  Block block(std::uint64_t number) const {
    Block x{std::uint32_t(number), std::uint32_t(number >> 32), 0, 0};
    std::uint32_t key[] = {std::uint32_t(seed_), std::uint32_t(seed_ >> 32)};
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t first = std::uint64_t{0xd2511f53} * x[0], second = std::uint64_t{0xcd9e8d57} * x[2];
      x = {std::uint32_t(second >> 32) ^ x[1] ^ key[0], std::uint32_t(second),
           std::uint32_t(first >> 32) ^ x[3] ^ key[1], std::uint32_t(first)};
      key[0] += 0x9e3779b9;
      key[1] += 0xbb67ae85;
    }
    return x;
  }

  std::uint64_t seed_, next_, number_ = ~std::uint64_t{0};
  Block block_{};
};

/// Returns a number in (0, 1], as cuRAND's are.
template <class Real> Real uniform(Philox& numbers) {
  if constexpr (sizeof(Real) == 4)
    return Real(double(numbers()) * 0x1p-32 + 0x1p-33);
  const std::uint64_t high = numbers();
  return Real(double((high << 32 | numbers()) >> 11) * 0x1p-53 + 0x1p-54);
}

/// Two independent normal numbers (Box and Muller).
template <class Real> std::array<Real, 2> normal_pair(Philox& numbers) {
  const double radius = std::sqrt(-2 * std::log(uniform<double>(numbers)));
  const double angle = 2 * std::numbers::pi * uniform<double>(numbers);
  return {Real(radius * std::cos(angle)), Real(radius * std::sin(angle))};
}

/// Generates `count` numbers, each of which takes no more than `words` of the sequence.
template <class Work>
curandStatus_t generate(curandGenerator_t generator, const char* function, const void* out, std::size_t count,
                        unsigned words, Work work) {
  if (!generator)
    return CURAND_STATUS_NOT_INITIALIZED;
  if (!out && count != 0)
    return CURAND_STATUS_OUT_OF_RANGE;
  const Philox numbers(generator->seed, generator->offset + generator->position);
  generator->position += count * words;
  const auto write = [numbers, work] {
    Philox from_here = numbers; // a graph's node writes the same numbers each time
    work(from_here);
  };
  if (generator->is_on_host) {
    write();
    return CURAND_STATUS_SUCCESS;
  }
  return __warplens_cpu_library_call(function, generator->stream, write) == cudaSuccess
             ? CURAND_STATUS_SUCCESS
             : CURAND_STATUS_LAUNCH_FAILURE;
}

template <class Real, class Change>
curandStatus_t normals(curandGenerator_t generator, const char* function, Real* out, std::size_t count,
                       Change change) {
  if (generator && count % 2 != 0)
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, function, out, count, 4, [=](Philox& numbers) {
    for (std::size_t i = 0; i < count; i += 2) {
      const auto pair = normal_pair<double>(numbers);
      for (std::size_t which = 0; which < 2; ++which)
        out[i + which] = Real(change(pair[which]));
    }
  });
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool is_on_host) {
  if (!generator)
    return CURAND_STATUS_OUT_OF_RANGE;
  if (type >= CURAND_RNG_QUASI_DEFAULT || type < CURAND_RNG_PSEUDO_DEFAULT) {
    __warplens_cpu_refuse_library_call("curandCreateGenerator", "it has no quasi-random generators");
    return CURAND_STATUS_TYPE_ERROR;
  }
  *generator = new curandGenerator_st{.is_on_host = is_on_host};
  return CURAND_STATUS_SUCCESS;
}

} // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (!generator)
    return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
  if (!version)
    return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!generator)
    return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (!generator)
    return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->position = 0; // the sequence begins anew
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (!generator)
    return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = offset;
  generator->position = 0;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t) {
  return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* out, size_t count) {
  return generate(generator, "curandGenerate", out, count, 1, [=](Philox& numbers) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = numbers();
  });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t count) {
  return generate(generator, "curandGenerateUniform", out, count, 1, [=](Philox& numbers) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = uniform<float>(numbers);
  });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t count) {
  return generate(generator, "curandGenerateUniformDouble", out, count, 2, [=](Philox& numbers) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = uniform<double>(numbers);
  });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                    float deviation) {
  return normals(generator, "curandGenerateNormal", out, count,
                 [=](double x) { return mean + deviation * x; });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t count, double mean,
                                          double deviation) {
  return normals(generator, "curandGenerateNormalDouble", out, count,
                 [=](double x) { return mean + deviation * x; });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                       float deviation) {
  return normals(generator, "curandGenerateLogNormal", out, count,
                 [=](double x) { return std::exp(mean + deviation * x); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t count,
                                             double mean, double deviation) {
  return normals(generator, "curandGenerateLogNormalDouble", out, count,
                 [=](double x) { return std::exp(mean + deviation * x); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* out, size_t count, double mean) {
  if (generator && !(mean > 0 && mean <= 400'000))
    return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, "curandGeneratePoisson", out, count, 64, [=](Philox& numbers) {
    std::poisson_distribution<unsigned> poisson(mean);
    for (std::size_t i = 0; i < count; ++i)
      out[i] = poisson(numbers);
  });
}
}
