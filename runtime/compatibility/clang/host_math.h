// Host functions that nvcc's headers put into the global namespace: ::min and ::max with the overloads of
// crt/math_functions.hpp, umin to ullmax, and what <math.h>, <stdlib.h> and <time.h> declare there.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARPLENS_MIN_MAX(first, second, result)                                                              \
  static inline __attribute__((host)) result min(const first a, const second b) {                            \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)                          \
                                                           : static_cast<result>(b);                         \
  }                                                                                                          \
  static inline __attribute__((host)) result max(const first a, const second b) {                            \
    return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a)                          \
                                                           : static_cast<result>(b);                         \
  }
WARPLENS_MIN_MAX(int, int, int)
WARPLENS_MIN_MAX(unsigned, unsigned, unsigned)
WARPLENS_MIN_MAX(int, unsigned, unsigned)
WARPLENS_MIN_MAX(unsigned, int, unsigned)
WARPLENS_MIN_MAX(long, long, long)
WARPLENS_MIN_MAX(unsigned long, unsigned long, unsigned long)
WARPLENS_MIN_MAX(long, unsigned long, unsigned long)
WARPLENS_MIN_MAX(unsigned long, long, unsigned long)
WARPLENS_MIN_MAX(long long, long long, long long)
WARPLENS_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
WARPLENS_MIN_MAX(long long, unsigned long long, unsigned long long)
WARPLENS_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef WARPLENS_MIN_MAX

#define WARPLENS_MIN_MAX(prefix, type)                                                                       \
  static inline __attribute__((host)) type prefix##min(const type a, const type b) {                         \
    return a < b ? a : b;                                                                                    \
  }                                                                                                          \
  static inline __attribute__((host)) type prefix##max(const type a, const type b) {                         \
    return a < b ? b : a;                                                                                    \
  }
WARPLENS_MIN_MAX(u, unsigned)
WARPLENS_MIN_MAX(ll, long long)
WARPLENS_MIN_MAX(ull, unsigned long long)
#undef WARPLENS_MIN_MAX

// Returns the number if the other operand is a NaN, like fmin and fmax.
#define WARPLENS_MIN_MAX(first, second, result, suffix)                                                      \
  static inline __attribute__((host)) result min(const first a, const second b) {                            \
    return __builtin_fmin##suffix(a, b);                                                                     \
  }                                                                                                          \
  static inline __attribute__((host)) result max(const first a, const second b) {                            \
    return __builtin_fmax##suffix(a, b);                                                                     \
  }
WARPLENS_MIN_MAX(float, float, float, f)
WARPLENS_MIN_MAX(double, double, double, )
WARPLENS_MIN_MAX(float, double, double, )
WARPLENS_MIN_MAX(double, float, double, )
#undef WARPLENS_MIN_MAX
