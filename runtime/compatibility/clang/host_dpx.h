// The functions of dynamic programming on the host (CUDA's "DPX"): the toolkit defines them for both sides,
// and Clang's wrapper makes device functions of them alone.
#pragma once

namespace warplens_dpx {

using Word = unsigned;

template <class Half, class Combine> __attribute__((host)) constexpr Word per_half(Combine combine) {
  const auto at = [&](int half) {
    return Word(static_cast<unsigned short>(combine([half](Word word) { return Half(word >> 16 * half); })));
  };
  return at(0) | at(1) << 16;
}
template <class T> __attribute__((host)) constexpr T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T> __attribute__((host)) constexpr T smaller(T a, T b) {
  return b < a ? b : a;
}

} // namespace warplens_dpx

// Sums wrap around, as nvcc's hosts' do.
#define WARPLENS_DPX(name, pick, Number, is_at_least_zero)                                                   \
  static inline __attribute__((host)) Number name(const Number a, const Number b, const Number c) {          \
    using namespace warplens_dpx;                                                                            \
    const Number of_three = pick(WARPLENS_DPX_FIRST(Number, a, b), c);                                       \
    return is_at_least_zero ? larger<Number>(of_three, 0) : of_three;                                        \
  }
#define WARPLENS_DPX_HALVES(name, pick, Half, is_at_least_zero)                                              \
  static inline __attribute__((host)) unsigned name(const unsigned a, const unsigned b, const unsigned c) {  \
    using namespace warplens_dpx;                                                                            \
    return per_half<Half>([&](auto half) {                                                                   \
      const Half of_three = pick(WARPLENS_DPX_FIRST(Half, half(a), half(b)), half(c));                       \
      return is_at_least_zero ? larger<Half>(of_three, 0) : of_three;                                        \
    });                                                                                                      \
  }
#define WARPLENS_DPX_ALL(pick, max_or_min)                                                                   \
  WARPLENS_DPX(max_or_min##_s32, pick, int, false)                                                           \
  WARPLENS_DPX(max_or_min##_u32, pick, unsigned, false)                                                      \
  WARPLENS_DPX(max_or_min##_s32_relu, pick, int, true)                                                       \
  WARPLENS_DPX_HALVES(max_or_min##_s16x2, pick, short, false)                                                \
  WARPLENS_DPX_HALVES(max_or_min##_u16x2, pick, unsigned short, false)                                       \
  WARPLENS_DPX_HALVES(max_or_min##_s16x2_relu, pick, short, true)

#define WARPLENS_DPX_FIRST(Number, a, b) larger<Number>(a, b)
WARPLENS_DPX_ALL(larger, __vimax3)
#undef WARPLENS_DPX_FIRST
#define WARPLENS_DPX_FIRST(Number, a, b) smaller<Number>(a, b)
WARPLENS_DPX_ALL(smaller, __vimin3)
#undef WARPLENS_DPX_FIRST
#define WARPLENS_DPX_FIRST(Number, a, b) static_cast<Number>(unsigned(a) + unsigned(b))
WARPLENS_DPX_ALL(larger, __viaddmax)
WARPLENS_DPX_ALL(smaller, __viaddmin)
#undef WARPLENS_DPX_FIRST
#undef WARPLENS_DPX_ALL
#undef WARPLENS_DPX_HALVES
#undef WARPLENS_DPX

#define WARPLENS_DPX_PAIR(max_or_min, pick, is_first)                                                        \
  static inline __attribute__((host)) int __vi##max_or_min##_s32_relu(const int a, const int b) {            \
    return warplens_dpx::larger(warplens_dpx::pick(a, b), 0);                                                \
  }                                                                                                          \
  static inline                                                                                              \
      __attribute__((host)) unsigned __vi##max_or_min##_s16x2_relu(const unsigned a, const unsigned b) {     \
    using namespace warplens_dpx;                                                                            \
    return per_half<short>([&](auto half) { return larger<short>(pick<short>(half(a), half(b)), 0); });      \
  }                                                                                                          \
  WARPLENS_DPX_SAYS(__vib##max_or_min##_s32, pick, int, is_first)                                            \
  WARPLENS_DPX_SAYS(__vib##max_or_min##_u32, pick, unsigned, is_first)                                       \
  WARPLENS_DPX_SAYS_HALVES(__vib##max_or_min##_s16x2, pick, short, is_first)                                 \
  WARPLENS_DPX_SAYS_HALVES(__vib##max_or_min##_u16x2, pick, unsigned short, is_first)
#define WARPLENS_DPX_SAYS(name, pick, Number, is_first)                                                      \
  static inline __attribute__((host)) Number name(const Number a, const Number b, bool* const predicate) {   \
    *predicate = a is_first b;                                                                               \
    return warplens_dpx::pick(a, b);                                                                         \
  }
#define WARPLENS_DPX_SAYS_HALVES(name, pick, Half, is_first)                                                 \
  static inline __attribute__((host)) unsigned name(const unsigned a, const unsigned b, bool* const upper,   \
                                                    bool* const lower) {                                     \
    using namespace warplens_dpx;                                                                            \
    *lower = static_cast<Half>(a) is_first static_cast<Half>(b);                                             \
    *upper = static_cast<Half>(a >> 16) is_first static_cast<Half>(b >> 16);                                 \
    return per_half<Half>([&](auto half) { return pick<Half>(half(a), half(b)); });                          \
  }
WARPLENS_DPX_PAIR(max, larger, >=)
WARPLENS_DPX_PAIR(min, smaller, <=)
#undef WARPLENS_DPX_PAIR
#undef WARPLENS_DPX_SAYS
#undef WARPLENS_DPX_SAYS_HALVES
