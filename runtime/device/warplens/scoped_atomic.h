// Atomic operations on words that a running kernel and the host share: system scope, on the device and on the
// host alike.
//
// cuda::atomic_ref is equivalent, but libcu++ needs C++17 and would be included into every file of the
// user's; nvcc's own atomic functions (CUDA Programming Guide, "Built-in atomic functions") need neither.
// Over PCIe a read-modify-write by the device is not atomic towards the host (CUDA Programming Guide, "Mapped
// Memory"): there are no words that both sides write.
#pragma once

#if defined(__CUDACC__) || defined(__CUDA__)
#define WARPLENS_BOTH_SIDES __host__ __device__ inline
#else
#define WARPLENS_BOTH_SIDES inline
#endif

#if !defined(__CUDA_ARCH__)
#include <sched.h>
#endif

namespace warplens {
namespace scoped {

#if defined(__CUDA_ARCH__) && !defined(__clang__)

template <class T> __device__ inline T load_relaxed(const T* word) {
  return __nv_atomic_load_n(const_cast<T*>(word), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
}
template <class T> __device__ inline T load_acquire(const T* word) {
  return __nv_atomic_load_n(const_cast<T*>(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
}
template <class T> __device__ inline void store_release(T* word, T value) {
  __nv_atomic_store_n(word, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
}
template <class T> __device__ inline T fetch_add_relaxed(T* word, T value) {
  return __nv_atomic_fetch_add(word, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
}
/// Subtracts with acquire and release semantics.
template <class T> __device__ inline T fetch_sub(T* word, T value) {
  return __nv_atomic_fetch_sub(word, value, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
}
/// Exchanges with acquire and release semantics on success. `expected` becomes the value found.
template <class T> __device__ inline bool compare_exchange(T* word, T& expected, T desired) {
  return __nv_atomic_compare_exchange_n(word, &expected, desired, false, __NV_ATOMIC_ACQ_REL,
                                        __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
}
/// Yields for a moment, in a loop that waits for others.
__device__ inline void relax() {
  __nanosleep(100);
}

#else

template <class T> WARPLENS_BOTH_SIDES T load_relaxed(const T* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
template <class T> WARPLENS_BOTH_SIDES T load_acquire(const T* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
template <class T> WARPLENS_BOTH_SIDES void store_release(T* word, T value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
template <class T> WARPLENS_BOTH_SIDES T fetch_add_relaxed(T* word, T value) {
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
template <class T> WARPLENS_BOTH_SIDES T fetch_sub(T* word, T value) {
  return __atomic_fetch_sub(word, value, __ATOMIC_ACQ_REL);
}
template <class T> WARPLENS_BOTH_SIDES bool compare_exchange(T* word, T& expected, T desired) {
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
WARPLENS_BOTH_SIDES void relax() {
#if !defined(__CUDA_ARCH__)
  sched_yield();
#endif
}

#endif

} // namespace scoped
} // namespace warplens
