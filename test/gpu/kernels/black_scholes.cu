// Black and Scholes's prices of European options: three arrays in, two out, all streamed once.
#include "program.h"

constexpr unsigned threads = 256;
constexpr float riskless = 0.02f, volatility = 0.3f;

template <class Real> __host__ __device__ Real cumulative_normal(Real d) {
  return static_cast<Real>(0.5) * erfc(-d * static_cast<Real>(0.70710678118654752440));
}

__global__ void black_scholes(unsigned options, const float* price, const float* strike, const float* years,
                              float* call, float* put) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= options)
    return;
  const float s = price[i], k = strike[i], t = years[i];
  const float deviation = volatility * sqrtf(t);
  const float d1 = (logf(s / k) + (riskless + 0.5f * volatility * volatility) * t) / deviation;
  const float discounted = k * expf(-riskless * t);
  const float value = s * cumulative_normal(d1) - discounted * cumulative_normal(d1 - deviation);
  call[i] = value;
  put[i] = value - s + discounted;
}

int main(int argc, char** argv) {
  reference::Program program(argc, argv, threads, 1 << 26, true);
  const unsigned options = program.size();
  reference::Random random(4);
  auto price = random.fractions(options), strike = random.fractions(options),
       years = random.fractions(options);
  for (unsigned i = 0; i < options; ++i) {
    price[i] = 5 + 25 * price[i];
    strike[i] = 1 + 99 * strike[i];
    years[i] = 0.25f + 9.75f * years[i];
  }
  const reference::Array<float> device_price(price), device_strike(strike), device_years(years),
      call(options), put(options);

  program.measure("black_scholes", [&] {
    black_scholes<<<options / threads, threads>>>(options, device_price.data(), device_strike.data(),
                                                  device_years.data(), call.data(), put.data());
  });

  const auto calls = call.values(), puts = put.values();
  bool right = true;
  for (unsigned i = 0; i < options; ++i) {
    const double s = price[i], k = strike[i], t = years[i], v = volatility, r = riskless;
    const double d1 = (std::log(s / k) + (r + 0.5 * v * v) * t) / (v * std::sqrt(t));
    const double discounted = k * std::exp(-r * t);
    const double expected = s * cumulative_normal(d1) - discounted * cumulative_normal(d1 - v * std::sqrt(t));
    right &= std::abs(calls[i] - expected) < 1e-3 && std::abs(puts[i] - (expected - s + discounted)) < 1e-3;
  }
  program.judge("black_scholes", right);
  return program.exit_code();
}
