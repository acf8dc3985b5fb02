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

#undef WARPLENS_SCOPE
#undef WARPLENS_DEVICE
#undef WARPLENS_VALUE
