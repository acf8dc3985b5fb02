// Discrete Fourier transforms of any length, in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::libraries {

/// Transforms of one length: X[k] = Σ x[j] · exp(±2πi·jk/n), without a factor in front.
class FourierTransform {
public:
  explicit FourierTransform(std::size_t length);

  /// Transforms the values in place; `inverse` takes the positive sign.
  void run(std::span<std::complex<double>> values, bool inverse) const;

private:
  void by_factors(const std::complex<double>* from, std::size_t step, std::complex<double>* to,
                  std::size_t length, std::size_t factor, bool inverse) const;
  void by_convolution(std::span<std::complex<double>> values, bool inverse) const;
  std::complex<double> root(std::size_t power, bool inverse) const;

  std::size_t length_;
  std::vector<std::size_t> factors_; ///< primes; none: the length has a large one
  std::vector<std::complex<double>> roots_;
  std::vector<FourierTransform> padded_; ///< of a convolution: one of a power of two
  std::vector<std::complex<double>> chirp_, chirp_transformed_;
};

} // namespace warplens::libraries
