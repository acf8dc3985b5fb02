#include "runtime/cpu/libraries/cufft/transform.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace warplens::libraries {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t largest_factor = 31; ///< beyond it the convolution is faster

/// Returns exp(-2πi · power / length). The power is reduced first, lest the angle lose digits.
Complex root_of_unity(std::size_t power, std::size_t length) {
  return std::polar(1.0, -2 * std::numbers::pi * double(power % length) / double(length));
}

std::vector<std::size_t> prime_factors(std::size_t length) {
  std::vector<std::size_t> factors;
  for (std::size_t prime = 2; length > 1; ++prime) {
    if (prime * prime > length)
      prime = length;
    for (; length % prime == 0; length /= prime)
      factors.push_back(prime);
  }
  return factors;
}

} // namespace

FourierTransform::FourierTransform(std::size_t length) : length_(length), factors_(prime_factors(length)) {
  if (factors_.empty() || factors_.back() <= largest_factor) {
    roots_.resize(length);
    for (std::size_t power = 0; power < length; ++power)
      roots_[power] = root_of_unity(power, length);
    return;
  }
  // Bluestein: jk = (j² + k² - (k - j)²) / 2 makes the transform a convolution with a chirp, which one of a
  // power of two does (IEEE Transactions on Audio and Electroacoustics 18, 1970).
  factors_.clear();
  const std::size_t padded = std::bit_ceil(2 * length - 1);
  padded_.emplace_back(padded);
  chirp_.resize(length);
  for (std::size_t j = 0; j < length; ++j)
    chirp_[j] = root_of_unity(j * j, 2 * length);
  chirp_transformed_.assign(padded, 0);
  for (std::size_t j = 0; j < length; ++j)
    chirp_transformed_[j] = chirp_transformed_[(padded - j) % padded] = std::conj(chirp_[j]);
  padded_.front().run(chirp_transformed_, false);
}

Complex FourierTransform::root(std::size_t power, bool inverse) const {
  const Complex one = roots_[power % length_];
  return inverse ? std::conj(one) : one;
}

void FourierTransform::run(std::span<Complex> values, bool inverse) const {
  if (length_ < 2)
    return;
  if (!padded_.empty())
    return by_convolution(values, inverse);
  const std::vector<Complex> from(values.begin(), values.end());
  by_factors(from.data(), 1, values.data(), length_, 0, inverse);
}

/// Cooley and Tukey's decomposition: `length` values, `step` apart, by transforms of its factors.
void FourierTransform::by_factors(const Complex* from, std::size_t step, Complex* to, std::size_t length,
                                  std::size_t factor, bool inverse) const {
  if (length == 1) {
    *to = *from;
    return;
  }
  const std::size_t parts = factors_[factor], part = length / parts;
  for (std::size_t i = 0; i < parts; ++i)
    by_factors(from + i * step, step * parts, to + i * part, part, factor + 1, inverse);
  const std::size_t scale = length_ / length;
  Complex values[largest_factor];
  for (std::size_t k = 0; k < part; ++k) {
    for (std::size_t i = 0; i < parts; ++i)
      values[i] = to[i * part + k] * root(i * k * scale, inverse);
    for (std::size_t j = 0; j < parts; ++j) {
      Complex sum = values[0];
      for (std::size_t i = 1; i < parts; ++i)
        sum += values[i] * root(i * j % parts * part * scale, inverse);
      to[j * part + k] = sum;
    }
  }
}

void FourierTransform::by_convolution(std::span<Complex> values, bool inverse) const {
  const auto conjugate_all = [&] {
    for (Complex& value : values)
      value = std::conj(value);
  };
  if (inverse)
    conjugate_all();
  const std::size_t padded = chirp_transformed_.size();
  std::vector<Complex> product(padded);
  for (std::size_t j = 0; j < length_; ++j)
    product[j] = values[j] * chirp_[j];
  padded_.front().run(product, false);
  for (std::size_t k = 0; k < padded; ++k)
    product[k] *= chirp_transformed_[k];
  padded_.front().run(product, true);
  for (std::size_t k = 0; k < length_; ++k)
    values[k] = product[k] / double(padded) * chirp_[k];
  if (inverse)
    conjugate_all();
}

} // namespace warplens::libraries
