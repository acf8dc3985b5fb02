// nvcc's atomic built-ins (CUDA C++ Programming Guide, "CUDA atomic functions", __nv_atomic_*) on top of
// Clang's. The requested memory order and scope are strengthened to sequential consistency over the whole
// system, which is always permitted.
#pragma once

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};

enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

namespace warplens_compatibility {
// A parameter from which no template argument is deduced.
template <class T> struct Exactly {
  typedef T type;
};
template <class T, bool is_wide> struct OfSixteenBytes {};
template <class T> struct OfSixteenBytes<T, true> {
  typedef T type;
};
} // namespace warplens_compatibility
#define WARPLENS_VALUE typename warplens_compatibility::Exactly<T>::type
#define WARPLENS_DEVICE template <class T> static inline __attribute__((device, always_inline))
#define WARPLENS_SCOPE int = __NV_THREAD_SCOPE_SYSTEM

WARPLENS_DEVICE void __nv_atomic_load(T* object, T* result, int, WARPLENS_SCOPE) {
  __atomic_load(object, result, __ATOMIC_SEQ_CST);
}
WARPLENS_DEVICE T __nv_atomic_load_n(T* object, int, WARPLENS_SCOPE) {
  T result;
  __atomic_load(object, &result, __ATOMIC_SEQ_CST);
  return result;
}
WARPLENS_DEVICE void __nv_atomic_store(T* object, T* value, int, WARPLENS_SCOPE) {
  __atomic_store(object, value, __ATOMIC_SEQ_CST);
}
WARPLENS_DEVICE void __nv_atomic_store_n(T* object, WARPLENS_VALUE value, int, WARPLENS_SCOPE) {
  __atomic_store(object, &value, __ATOMIC_SEQ_CST);
}
WARPLENS_DEVICE void __nv_atomic_exchange(T* object, T* value, T* result, int, WARPLENS_SCOPE) {
  __atomic_exchange(object, value, result, __ATOMIC_SEQ_CST);
}
WARPLENS_DEVICE T __nv_atomic_exchange_n(T* object, WARPLENS_VALUE value, int, WARPLENS_SCOPE) {
  T result;
  __atomic_exchange(object, &value, &result, __ATOMIC_SEQ_CST);
  return result;
}
WARPLENS_DEVICE bool __nv_atomic_compare_exchange(T* object, T* expected, T* desired, bool, int, int,
                                                  WARPLENS_SCOPE) {
  return __atomic_compare_exchange(object, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
WARPLENS_DEVICE bool __nv_atomic_compare_exchange_n(T* object, T* expected, WARPLENS_VALUE desired, bool, int,
                                                    int, WARPLENS_SCOPE) {
  return __atomic_compare_exchange(object, expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#define WARPLENS_FETCH(operation)                                                                            \
  WARPLENS_DEVICE T __nv_atomic_fetch_##operation(T* object, WARPLENS_VALUE value, int, WARPLENS_SCOPE) {    \
    return __atomic_fetch_##operation(object, value, __ATOMIC_SEQ_CST);                                      \
  }                                                                                                          \
  WARPLENS_DEVICE void __nv_atomic_##operation(T* object, WARPLENS_VALUE value, int, WARPLENS_SCOPE) {       \
    __atomic_fetch_##operation(object, value, __ATOMIC_SEQ_CST);                                             \
  }
WARPLENS_FETCH(add)
WARPLENS_FETCH(sub)
WARPLENS_FETCH(and)
WARPLENS_FETCH(or)
WARPLENS_FETCH(xor)
WARPLENS_FETCH(min)
WARPLENS_FETCH(max)
#undef WARPLENS_FETCH

static inline __attribute__((device, always_inline)) void __nv_atomic_thread_fence(int, WARPLENS_SCOPE) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// The function that sm_70_rt.hpp and sm_90_rt.hpp leave to nvcc itself.
extern "C" inline __attribute__((device, always_inline)) unsigned short
__usAtomicCAS(unsigned short* object, unsigned short expected, unsigned short desired) {
  __atomic_compare_exchange(object, &expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

// The operations on 16 bytes of sm_90_rt.h, which Clang's headers leave out. Kernels with them are executed
// as nvcc's machine code, so that the PTX here says what they do and where.
#define WARPLENS_WIDE                                                                                        \
  template <class T>                                                                                         \
  static inline __attribute__((device, always_inline))                                                       \
  typename warplens_compatibility::OfSixteenBytes<T, sizeof(T) == 16 && alignof(T) >= 16>::type
#define WARPLENS_WIDE_ATOMICS(suffix, scope)                                                                 \
  WARPLENS_WIDE atomicCAS##suffix(T* object, T expected, T desired) {                                        \
    unsigned long long before[2], compared[2], stored[2];                                                    \
    __builtin_memcpy(compared, __builtin_addressof(expected), 16);                                           \
    __builtin_memcpy(stored, __builtin_addressof(desired), 16);                                              \
    asm volatile("{ .reg .b128 c, v, r; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6}; "                        \
                 "atom" scope ".cas.b128 r, [%2], c, v; mov.b128 {%0, %1}, r; }"                             \
                 : "=l"(before[0]), "=l"(before[1])                                                          \
                 : "l"(object), "l"(compared[0]), "l"(compared[1]), "l"(stored[0]), "l"(stored[1])           \
                 : "memory");                                                                                \
    __builtin_memcpy(__builtin_addressof(expected), before, 16);                                             \
    return expected;                                                                                         \
  }                                                                                                          \
  WARPLENS_WIDE atomicExch##suffix(T* object, T desired) {                                                   \
    unsigned long long before[2], stored[2];                                                                 \
    __builtin_memcpy(stored, __builtin_addressof(desired), 16);                                              \
    asm volatile("{ .reg .b128 v, r; mov.b128 v, {%3, %4}; atom" scope ".exch.b128 r, [%2], v; "             \
                 "mov.b128 {%0, %1}, r; }"                                                                   \
                 : "=l"(before[0]), "=l"(before[1])                                                          \
                 : "l"(object), "l"(stored[0]), "l"(stored[1])                                               \
                 : "memory");                                                                                \
    __builtin_memcpy(__builtin_addressof(desired), before, 16);                                              \
    return desired;                                                                                          \
  }
#ifndef __NV_DISABLE_128_ATOMICS
WARPLENS_WIDE_ATOMICS(, "")
WARPLENS_WIDE_ATOMICS(_block, ".cta")
WARPLENS_WIDE_ATOMICS(_system, ".sys")
#endif
#undef WARPLENS_WIDE_ATOMICS
#undef WARPLENS_WIDE

#undef WARPLENS_SCOPE
#undef WARPLENS_DEVICE
#undef WARPLENS_VALUE
