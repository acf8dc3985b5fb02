// The probes around memory accesses and at barriers, which a rewritten source includes.
//
//   a[i]          as a load          →  (*::warplens::load(SITE, &(a[i])))
//   a[i] = x      as a store target  →  (*::warplens::store(SITE, &(a[i]))) = x
//   a[i] += x, ++a[i]                →  (*::warplens::update(SITE, &(a[i]))) += x
//   atomicAdd(p, x)                  →  atomicAdd(::warplens::atomic(SITE, p), x)
//   __ldg(p)                         →  __ldg(::warplens::load(SITE, p))
//   tex2D<float>(t, x, y)            →  tex2D<float>(::warplens::Texture(SITE, t), x, y)
//   __syncthreads()                  →  (::warplens::barrier(SITE), __syncthreads())
//   if (c) x = y;                    →  if (::warplens::taken(SITE, (c))) x = y;
//
// An access that the compiler moves out of a loop is recorded once each time the loop is entered:
//
//   for (…) s += a[i];  →  { ::warplens::First f; for (…) s += (*::warplens::load(f, SITE, &(a[i]))); }
//
// If the compiler removes some of an access's unrolled copies, it is recorded in the iterations of the
// others:
//
//   for (…) s += a[0];  →  { unsigned n = ~0u; for (…) { ++n; s += (*::warplens::load(n == 0, SITE,
//   &(a[0]))); } }
//
// Several neighbouring objects that the compiler accesses at once are recorded at the first of them, with the
// sum of their bytes:
//
//   s += v.x + v.y;  →  s += (*::warplens::load<8>(SITE, &(v.x))) + v.y;
//
// Each of these, but that of a barrier, returns its pointer unchanged, with its type. On the host, under
// constant evaluation and on a device that is not traced they do nothing. A class of size S and alignment A
// is S / min(A, 16) accesses of min(A, 16) bytes, the widths at which compiled code may copy it (PTX ISA,
// "Alignment of Vectors": 16 bytes is the widest); an empty class is none.
//
// In a template, `in[i]` may be memory in one instance (a pointer's element) and a value or a proxy in
// another (a counting iterator's): the type system decides.
//
//   in[i] as a load                  →  (::warplens::load_if_lvalue(SITE, (in[i])))
//
// If the class overloads unary &, `::warplens::address_of(lvalue)` replaces it.
//
// Needs C++14. Includes nothing heavy on the host and under the CPU back end.
#pragma once

#include "site_record.h"

#if defined(__CUDACC__) || defined(__CUDA__)
#define WARPLENS_PROBE __host__ __device__ __forceinline__
#else
#define WARPLENS_PROBE inline
#endif

#if defined(__WARPLENS_CPU__)
// CPU back end: the lowering turns each call into an entry of the lane's log. `kind` is an AccessKind.
extern "C" __attribute__((device)) void
__warplens_access(unsigned long long site, const volatile void* address, unsigned bytes, unsigned kind);
#elif defined(__CUDACC__)
#include "gpu_probe.h"
#endif

namespace warplens {

/// Records whether a probe has yet to be passed for the first time.
struct __attribute__((unused)) First {
  bool ahead = true;
  WARPLENS_PROBE constexpr bool once() {
    const bool result = ahead;
    ahead = false;
    return result;
  }
};

namespace detail {

/// AccessKind's values, which user code does not see.
enum Kind : unsigned {
  kind_load = 0,
  kind_store = 1,
  kind_update = 2,
  kind_atomic = 3,
  kind_barrier = 4,
  kind_mark = 5
};

/// The width and the number of one lane's accesses for an object of type T.
template <class T> struct Shape {
  static constexpr unsigned bytes = alignof(T) < 16 ? alignof(T) : 16;
  static constexpr unsigned count = __is_empty(T) ? 0 : sizeof(T) / bytes;
};
struct NoShape {
  static constexpr unsigned bytes = 0;
  static constexpr unsigned count = 0;
};
template <> struct Shape<void> : NoShape {};
template <> struct Shape<const void> : NoShape {};
template <> struct Shape<volatile void> : NoShape {};
template <> struct Shape<const volatile void> : NoShape {};

#if defined(__CUDA_ARCH__)
__device__ __forceinline__ void access(unsigned long long site, const volatile char* address, unsigned bytes,
                                       unsigned kind) {
#if defined(__WARPLENS_CPU__)
  __warplens_access(site, address, bytes, kind);
#else
  record_on_gpu(site, address, bytes, kind);
#endif
}

/// Emits the accesses of one object. Small counts are unrolled, so that each keeps its own place in the
/// program's order.
template <unsigned Bytes, unsigned Count> struct Accesses {
  static constexpr unsigned largest_written_out = 16;
  __device__ __forceinline__ static void make(unsigned long long site, const volatile char* address,
                                              unsigned kind) {
    if (Count > largest_written_out) {
      for (unsigned i = 0; i < Count; ++i)
        access(site, address + i * Bytes, Bytes, kind);
    } else {
      constexpr unsigned rest = Count > largest_written_out ? 0 : Count - 1;
      access(site, address, Bytes, kind);
      Accesses<Bytes, rest>::make(site, address + Bytes, kind);
    }
  }
};
template <unsigned Bytes> struct Accesses<Bytes, 0> {
  __device__ __forceinline__ static void make(unsigned long long, const volatile char*, unsigned) {}
};

/// Probes on the device; `Bytes` is as in probe().
template <unsigned Bytes, class T>
__device__ __forceinline__ T* probe_on_device(unsigned long long site, T* pointer, unsigned kind) {
  Accesses<Bytes ? Bytes : Shape<T>::bytes, Bytes ? 1 : Shape<T>::count>::make(
      site, static_cast<const volatile char*>(static_cast<const volatile void*>(pointer)), kind);
  return pointer;
}
#endif

/// Probes an access. `Bytes` is the width of the one access that begins at the object, if it is wider than
/// the object; else 0.
template <unsigned Bytes, class T>
WARPLENS_PROBE constexpr T* probe(unsigned long long site, T* pointer, unsigned kind) {
#if defined(__CUDA_ARCH__)
  return __builtin_is_constant_evaluated() ? pointer : probe_on_device<Bytes>(site, pointer, kind);
#else
  return static_cast<void>(site), static_cast<void>(kind), pointer;
#endif
}

template <unsigned Bytes, class T>
WARPLENS_PROBE constexpr T* probe_if(bool records, unsigned long long site, T* pointer, unsigned kind) {
  return records ? probe<Bytes>(site, pointer, kind) : pointer;
}

} // namespace detail

template <unsigned Bytes = 0, class T> WARPLENS_PROBE constexpr T* load(unsigned long long site, T* pointer) {
  return detail::probe<Bytes>(site, pointer, detail::kind_load);
}
template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* store(unsigned long long site, T* pointer) {
  return detail::probe<Bytes>(site, pointer, detail::kind_store);
}
/// Probes a read-modify-write by plain code.
template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* update(unsigned long long site, T* pointer) {
  return detail::probe<Bytes>(site, pointer, detail::kind_update);
}
template <class T> WARPLENS_PROBE constexpr T* atomic(unsigned long long site, T* pointer) {
  return detail::probe<0>(site, pointer, detail::kind_atomic);
}

/// Counts an execution of a body without accesses, on the CPU back end: a GPU's threads have nowhere to
/// count.
WARPLENS_PROBE constexpr void mark(unsigned long long site) {
#if defined(__CUDA_ARCH__) && defined(__WARPLENS_CPU__)
  if (!__builtin_is_constant_evaluated())
    __warplens_access(site, nullptr, 0, detail::kind_mark);
#else
  static_cast<void>(site);
#endif
}
/// Returns the condition of a branch or a loop, and counts that its body is executed, or its other side.
WARPLENS_PROBE constexpr bool taken(unsigned long long site, bool condition) {
  if (condition)
    mark(site);
  return condition;
}
WARPLENS_PROBE constexpr bool always(unsigned long long site, bool condition) {
  mark(site);
  return condition;
}
WARPLENS_PROBE constexpr bool not_taken(unsigned long long site, bool condition) {
  if (!condition)
    mark(site);
  return condition;
}

/// Records that the lane arrives at a barrier.
WARPLENS_PROBE void barrier(unsigned long long site) {
#if defined(__CUDA_ARCH__)
#if defined(__WARPLENS_CPU__)
  __warplens_access(site, nullptr, 0, detail::kind_barrier);
#else
  detail::record_barrier_on_gpu(site, detail::kind_barrier);
#endif
#else
  static_cast<void>(site);
#endif
}

template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* load(bool records, unsigned long long site, T* pointer) {
  return detail::probe_if<Bytes>(records, site, pointer, detail::kind_load);
}
template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* store(bool records, unsigned long long site, T* pointer) {
  return detail::probe_if<Bytes>(records, site, pointer, detail::kind_store);
}
template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* update(bool records, unsigned long long site, T* pointer) {
  return detail::probe_if<Bytes>(records, site, pointer, detail::kind_update);
}

template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* load(First& first, unsigned long long site, T* pointer) {
  return load<Bytes>(first.once(), site, pointer);
}
template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* store(First& first, unsigned long long site, T* pointer) {
  return store<Bytes>(first.once(), site, pointer);
}
template <unsigned Bytes = 0, class T>
WARPLENS_PROBE constexpr T* update(First& first, unsigned long long site, T* pointer) {
  return update<Bytes>(first.once(), site, pointer);
}

/// Returns the address of an object whose class may overload unary &.
template <class T> WARPLENS_PROBE constexpr T* address_of(T& object) {
  return __builtin_addressof(object);
}

// For each kind of access, with and without a flag: probes an lvalue, and passes any other value on. The
// result lives as long as the full expression, which is as long as a read or an assignment needs it.
#define WARPLENS_IF_LVALUE(kind)                                                                             \
  template <unsigned Bytes = 0, class T>                                                                     \
  WARPLENS_PROBE constexpr T& kind##_if_lvalue(unsigned long long site, T& object) {                         \
    return *kind<Bytes>(site, address_of(object));                                                           \
  }                                                                                                          \
  template <unsigned Bytes = 0, class T>                                                                     \
  WARPLENS_PROBE constexpr T&& kind##_if_lvalue(unsigned long long, T&& object) {                            \
    return static_cast<T&&>(object);                                                                         \
  }                                                                                                          \
  template <unsigned Bytes = 0, class T>                                                                     \
  WARPLENS_PROBE constexpr T& kind##_if_lvalue(First& first, unsigned long long site, T& object) {           \
    return *kind<Bytes>(first, site, address_of(object));                                                    \
  }                                                                                                          \
  template <unsigned Bytes = 0, class T>                                                                     \
  WARPLENS_PROBE constexpr T&& kind##_if_lvalue(First&, unsigned long long, T&& object) {                    \
    return static_cast<T&&>(object);                                                                         \
  }                                                                                                          \
  template <unsigned Bytes = 0, class T>                                                                     \
  WARPLENS_PROBE constexpr T& kind##_if_lvalue(bool records, unsigned long long site, T& object) {           \
    return *kind<Bytes>(records, site, address_of(object));                                                  \
  }                                                                                                          \
  template <unsigned Bytes = 0, class T>                                                                     \
  WARPLENS_PROBE constexpr T&& kind##_if_lvalue(bool, unsigned long long, T&& object) {                      \
    return static_cast<T&&>(object);                                                                         \
  }
WARPLENS_IF_LVALUE(load)
WARPLENS_IF_LVALUE(store)
WARPLENS_IF_LVALUE(update)
#undef WARPLENS_IF_LVALUE

#if defined(__WARPLENS_CPU__) || !defined(__CUDACC__)
/// The first statement in the body of a kernel: its block enters the snapshot and, as threads return, leaves
/// it. The CPU back end starts and ends blocks itself.
struct __attribute__((unused)) KernelScope {};
#endif

} // namespace warplens

#include "copy_probe.h"

#undef WARPLENS_PROBE

// Defined if CUDA's own functions are declared.
#if defined(__TEXTURE_INDIRECT_FUNCTIONS_H__) && defined(__SURFACE_INDIRECT_FUNCTIONS_H__)
#include "texture_probe.h"
#endif
