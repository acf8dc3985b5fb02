// The types of numbers that CUDA's libraries compute with, as they lie in memory.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <cuComplex.h>
#include <library_types.h>
#include <limits>
#include <type_traits>

namespace warplens::libraries {

using Half = _Float16;

struct Bfloat16 {
  std::uint16_t bits;
  Bfloat16() = default;
  explicit Bfloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    bits = std::uint16_t(value != value ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// The 8-bit floats of NVIDIA's tensor cores; `mantissa` is 3 (E4M3, without infinities) or 2 (E5M2).
template <int mantissa> struct Float8 {
  static constexpr int bias = mantissa == 3 ? 7 : 15;
  static constexpr float max = mantissa == 3 ? 448 : 57344;
  std::uint8_t bits;
  Float8() = default;
  /// Rounds to nearest even; what is too large becomes the largest number.
  explicit Float8(float value) {
    const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
    const float magnitude = std::fabs(value);
    if (value != value) {
      bits = 0x7f;
      return;
    }
    if (magnitude >= max) {
      bits = sign | (mantissa == 3 ? 0x7e : 0x7b);
      return;
    }
    const int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
    const int steps = int(std::nearbyint(std::ldexp(magnitude, mantissa - exponent)));
    // A sum, so that a rounding up to the next power of two carries into the exponent.
    bits = std::uint8_t(sign | (((exponent + bias - 1) << mantissa) + steps));
  }
  explicit operator float() const {
    const int exponent = (bits & 0x7f) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    const bool last = mantissa == 3 ? (bits & 0x7f) == 0x7f : exponent == 31;
    float value = exponent == 0 ? std::ldexp(float(fraction), 1 - bias - mantissa)
                                : std::ldexp(float(fraction + (1 << mantissa)), exponent - bias - mantissa);
    if (last)
      value = mantissa == 2 && fraction == 0 ? std::numeric_limits<float>::infinity()
                                             : std::numeric_limits<float>::quiet_NaN();
    return bits & 0x80 ? -value : value;
  }
};

template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<std::complex<T>> = true;
template <class T> inline constexpr bool is_small_float = false;
template <> inline constexpr bool is_small_float<Half> = true;
template <> inline constexpr bool is_small_float<Bfloat16> = true;
template <int mantissa> inline constexpr bool is_small_float<Float8<mantissa>> = true;

/// The type of |x|.
template <class T> struct RealOf {
  using type = T;
};
template <class T> struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T> using Real = typename RealOf<T>::type;

/// Converts between any two of the types: to integers rounded and saturated, to real numbers the real part.
template <class To, class From> To convert(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (is_complex<To> && is_complex<From>)
    return To(Real<To>(value.real()), Real<To>(value.imag()));
  else if constexpr (is_complex<To>)
    return To(convert<Real<To>>(value), 0);
  else if constexpr (is_complex<From>)
    return convert<To>(value.real());
  else if constexpr (is_small_float<From>)
    return convert<To>(static_cast<float>(value));
  else if constexpr (is_small_float<To>)
    return To(static_cast<float>(value));
  else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    if (!(rounded > double(std::numeric_limits<To>::min()))) // also what is no number
      return std::numeric_limits<To>::min();
    return rounded >= double(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max() : To(rounded);
  } else if constexpr (std::is_integral_v<To> && sizeof(To) < sizeof(From)) {
    return value < From(std::numeric_limits<To>::min())   ? std::numeric_limits<To>::min()
           : value > From(std::numeric_limits<To>::max()) ? std::numeric_limits<To>::max()
                                                          : To(value);
  } else
    return static_cast<To>(value);
}

template <class T> T conjugate(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

/// Returns the number without its imaginary part.
template <class T> T real_part(T value) {
  if constexpr (is_complex<T>)
    return T(value.real());
  else
    return value;
}

template <class T> struct Tag {
  using type = T;
};

/// Calls `then(Tag<T>())` with the C++ type of the data type; returns false if there is none.
template <class Then> bool with_type(cudaDataType type, Then then) {
  switch (type) {
  case CUDA_R_32F: then(Tag<float>()); return true;
  case CUDA_R_64F: then(Tag<double>()); return true;
  case CUDA_R_16F: then(Tag<Half>()); return true;
  case CUDA_R_16BF: then(Tag<Bfloat16>()); return true;
  case CUDA_R_8F_E4M3: then(Tag<Float8<3>>()); return true;
  case CUDA_R_8F_E5M2: then(Tag<Float8<2>>()); return true;
  case CUDA_R_8I: then(Tag<std::int8_t>()); return true;
  case CUDA_R_8U: then(Tag<std::uint8_t>()); return true;
  case CUDA_R_32I: then(Tag<std::int32_t>()); return true;
  case CUDA_C_32F: then(Tag<std::complex<float>>()); return true;
  case CUDA_C_64F: then(Tag<std::complex<double>>()); return true;
  default: return false;
  }
}

/// Returns the bytes of an element; 0 if the type is not known.
inline std::size_t bytes_of(cudaDataType type) {
  std::size_t bytes = 0;
  with_type(type, [&]<class T>(Tag<T>) { bytes = sizeof(T); });
  return bytes;
}

/// Reads one number of a known type.
template <class T> T read(cudaDataType type, const void* place, std::int64_t index = 0) {
  T value{};
  with_type(type, [&]<class S>(Tag<S>) { value = convert<T>(static_cast<const S*>(place)[index]); });
  return value;
}

/// Writes one number of a known type.
template <class T> void write(cudaDataType type, void* place, T value, std::int64_t index = 0) {
  with_type(type, [&]<class S>(Tag<S>) { static_cast<S*>(place)[index] = convert<S>(value); });
}

/// The numbers behind CUDA's types.
template <class T> struct NumberOf {
  using type = T;
};
template <> struct NumberOf<cuComplex> {
  using type = std::complex<float>;
};
template <> struct NumberOf<cuDoubleComplex> {
  using type = std::complex<double>;
};
template <class T> using Number = typename NumberOf<T>::type;

template <class T> const Number<T>* numbers(const T* pointer) {
  return reinterpret_cast<const Number<T>*>(pointer);
}
template <class T> Number<T>* numbers(T* pointer) {
  return reinterpret_cast<Number<T>*>(pointer);
}

} // namespace warplens::libraries
