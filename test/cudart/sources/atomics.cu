// nvcc's atomic built-ins.
__global__ void kernel(unsigned* u, long long* s, float* f) {
  unsigned expected = __nv_atomic_load_n(u, __NV_ATOMIC_RELAXED), loaded;
  __nv_atomic_load(u, &loaded, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_fetch_add(u, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_max(s, 7, __NV_ATOMIC_RELAXED);
  __nv_atomic_add(f, 1.0f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_compare_exchange_n(u, &expected, 3, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE);
  __nv_atomic_store_n(s, 3, __NV_ATOMIC_RELEASE);
  *u += __nv_atomic_exchange_n(u, 4, __NV_ATOMIC_SEQ_CST) +
        __nv_atomic_fetch_xor(u, loaded, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}
