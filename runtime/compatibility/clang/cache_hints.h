// Loads and stores with cache operators (__ldcg … __stwt, CUDA C++ Programming Guide "Load/Store Functions
// Using Cache Hints"), which Clang's wrapper leaves out, and __tanhf. They are plain accesses of the same
// width: a cache operator changes no value, and the rewriter reads it from the function's name.
#pragma once

// The wrapper has provided the declarations of these headers.
#define __SM_20_INTRINSICS_H__
#define __SM_30_INTRINSICS_H__
#define __SM_32_INTRINSICS_H__
#define __SM_35_INTRINSICS_H__
#define __SM_61_INTRINSICS_H__

// `raw` has the size and alignment of `type` and is loaded and stored at once.
#define WARPLENS_LOAD(name, qualifier, type, raw)                                                            \
  static inline __attribute__((device, always_inline)) type name(const type* pointer) {                      \
    using Raw __attribute__((aligned(alignof(type)), may_alias)) = raw;                                      \
    return __builtin_bit_cast(type, *(const qualifier Raw*)pointer);                                         \
  }
#define WARPLENS_STORE(name, type, raw)                                                                      \
  static inline __attribute__((device, always_inline)) void name(type* pointer, type value) {                \
    using Raw __attribute__((aligned(alignof(type)), may_alias)) = raw;                                      \
    *(Raw*)pointer = __builtin_bit_cast(raw, value);                                                         \
  }
// __ldlu and __ldcv must not be merged with other loads: the program may be waiting for another thread's
// store.
#define WARPLENS_CACHE_HINTS(type, raw)                                                                      \
  WARPLENS_LOAD(__ldca, , type, raw)                                                                         \
  WARPLENS_LOAD(__ldcg, , type, raw)                                                                         \
  WARPLENS_LOAD(__ldcs, , type, raw)                                                                         \
  WARPLENS_LOAD(__ldlu, volatile, type, raw)                                                                 \
  WARPLENS_LOAD(__ldcv, volatile, type, raw)                                                                 \
  WARPLENS_STORE(__stwb, type, raw)                                                                          \
  WARPLENS_STORE(__stcg, type, raw)                                                                          \
  WARPLENS_STORE(__stcs, type, raw)                                                                          \
  WARPLENS_STORE(__stwt, type, raw)

#define WARPLENS_VECTOR_CACHE_HINTS(type, element, count)                                                    \
  namespace warplens_compatibility {                                                                         \
  typedef element type##_raw __attribute__((ext_vector_type(count)));                                        \
  }                                                                                                          \
  WARPLENS_CACHE_HINTS(type, warplens_compatibility::type##_raw)

WARPLENS_CACHE_HINTS(char, char)
WARPLENS_CACHE_HINTS(signed char, signed char)
WARPLENS_CACHE_HINTS(unsigned char, unsigned char)
WARPLENS_CACHE_HINTS(short, short)
WARPLENS_CACHE_HINTS(unsigned short, unsigned short)
WARPLENS_CACHE_HINTS(int, int)
WARPLENS_CACHE_HINTS(unsigned, unsigned)
WARPLENS_CACHE_HINTS(long, long)
WARPLENS_CACHE_HINTS(unsigned long, unsigned long)
WARPLENS_CACHE_HINTS(long long, long long)
WARPLENS_CACHE_HINTS(unsigned long long, unsigned long long)
WARPLENS_CACHE_HINTS(float, float)
WARPLENS_CACHE_HINTS(double, double)
WARPLENS_VECTOR_CACHE_HINTS(char2, char, 2)
WARPLENS_VECTOR_CACHE_HINTS(char4, char, 4)
WARPLENS_VECTOR_CACHE_HINTS(uchar2, unsigned char, 2)
WARPLENS_VECTOR_CACHE_HINTS(uchar4, unsigned char, 4)
WARPLENS_VECTOR_CACHE_HINTS(short2, short, 2)
WARPLENS_VECTOR_CACHE_HINTS(short4, short, 4)
WARPLENS_VECTOR_CACHE_HINTS(ushort2, unsigned short, 2)
WARPLENS_VECTOR_CACHE_HINTS(ushort4, unsigned short, 4)
WARPLENS_VECTOR_CACHE_HINTS(int2, int, 2)
WARPLENS_VECTOR_CACHE_HINTS(int4, int, 4)
WARPLENS_VECTOR_CACHE_HINTS(uint2, unsigned, 2)
WARPLENS_VECTOR_CACHE_HINTS(uint4, unsigned, 4)
WARPLENS_VECTOR_CACHE_HINTS(longlong2, long long, 2)
WARPLENS_VECTOR_CACHE_HINTS(ulonglong2, unsigned long long, 2)
WARPLENS_VECTOR_CACHE_HINTS(float2, float, 2)
WARPLENS_VECTOR_CACHE_HINTS(float4, float, 4)
WARPLENS_VECTOR_CACHE_HINTS(double2, double, 2)

#undef WARPLENS_CACHE_HINTS
#undef WARPLENS_VECTOR_CACHE_HINTS
#undef WARPLENS_STORE
#undef WARPLENS_LOAD

static inline __attribute__((device)) float __tanhf(float x) {
  return ::tanhf(x);
}
