// Probes of asynchronous copies, which record the stores or the loads of a copy, a warp access for each width
// that the compiled code copies at. A function's probe stands around its name, and gets its arguments:
//
//   __pipeline_memcpy_async(to, from, 16)
//     →  [&](auto a, auto b, auto c) { ::warplens::pipeline_copy_to(SITE, a, b, c);
//                                      return __pipeline_memcpy_async(a, b, c); }(to, from, 16)
//
// In inline PTX it stands around an address, which it returns: a pointer, or the number of one.
//
//   asm("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from))
//     →  … :: "r"(::warplens::copied_to<4>(SITE, to)), "l"(::warplens::copied_from<4>(SITE, from)))
//
// The widths are those of CUDA 13's headers: cuda_pipeline_primitives.h, cooperative_groups/details/async.h
// and cuda/__memcpy_async/.
#pragma once

// A group's functions are for the device only, and so is the code that calls these with one.
#if defined(__NVCC__)
#define WARPLENS_ANY_CALLER _Pragma("nv_exec_check_disable")
#else
#define WARPLENS_ANY_CALLER
#endif

namespace warplens {
namespace detail {

using Size = decltype(sizeof(0));

template <class T> struct Alignment {
  static constexpr unsigned bytes = alignof(T);
};
template <> struct Alignment<void> {
  static constexpr unsigned bytes = 1;
};
template <> struct Alignment<const void> : Alignment<void> {};

template <class...> struct Ignore {
  using Type = void;
};
/// The alignment that a size has by its type: cuda::aligned_size_t.
template <class T, class = void> struct SizeAlignment {
  static constexpr unsigned bytes = 1;
};
template <class T> struct SizeAlignment<T, typename Ignore<decltype(T::align)>::Type> {
  static constexpr unsigned bytes = T::align;
};

constexpr unsigned larger(unsigned a, unsigned b) {
  return a > b ? a : b;
}
constexpr unsigned at_most_16(unsigned bytes) {
  return bytes > 16 ? 16 : bytes;
}

#if defined(__CUDA_ARCH__)
using Bytes = const volatile char*;

template <class T> __device__ __forceinline__ Bytes bytes_at(T* pointer) {
  return static_cast<Bytes>(static_cast<const volatile void*>(pointer));
}

/// Records one access of a lane. A site's widths must be constants.
__device__ __forceinline__ void access_of_some_bytes(unsigned long long site, Bytes address, unsigned bytes,
                                                     unsigned kind) {
  if (bytes >= 16)
    access(site, address, 16, kind);
  else if (bytes >= 8)
    access(site, address, 8, kind);
  else if (bytes >= 4)
    access(site, address, 4, kind);
  else if (bytes >= 2)
    access(site, address, 2, kind);
  else if (bytes == 1)
    access(site, address, 1, kind);
}

/// Records what a thread copies of consecutive bytes that `threads` threads copy.
template <unsigned Width>
__device__ __forceinline__ void accesses_of_thread(unsigned long long site, Bytes address, Size bytes,
                                                   Size rank, Size threads, unsigned kind) {
  for (Size at = rank * Width; at + Width <= bytes; at += threads * Width)
    access(site, address + at, Width, kind);
}

/// Records a thread's part of a copy by cooperative_groups::memcpy_async() of pointers that are aligned to
/// `Known` bytes: single bytes up to the alignment that both pointers share, then accesses of that width.
template <unsigned Known> struct GroupCopy {
  __device__ __forceinline__ static void make(unsigned long long site, Bytes to, Bytes from, Size bytes,
                                              Size rank, Size threads, unsigned kind) {
    const Bytes address = kind == kind_store ? to : from;
    const Size differs = reinterpret_cast<Size>(to) ^ reinterpret_cast<Size>(from);
    const unsigned width = differs % 2 != 0    ? 1
                           : differs % 4 != 0  ? 2
                           : differs % 8 != 0  ? 4
                           : differs % 16 != 0 ? 8
                                               : 16;
    if (bytes < width || width == 1)
      return accesses_of_thread<Known>(site, address, bytes, rank, threads, kind);
    if (width == 2)
      return accesses_of_thread<2>(site, address, bytes, rank, threads, kind);
    const Size ahead = (width - reinterpret_cast<Size>(from) % width) % width;
    const Size whole = (bytes - ahead) / width * width;
    accesses_of_thread<1>(site, address, ahead, rank, threads, kind);
    if (width == 4)
      accesses_of_thread<4>(site, address + ahead, whole, rank, threads, kind);
    else if (width == 8)
      accesses_of_thread<8>(site, address + ahead, whole, rank, threads, kind);
    else
      accesses_of_thread<16>(site, address + ahead, whole, rank, threads, kind);
    accesses_of_thread<1>(site, address + ahead + whole, bytes - ahead - whole, rank, threads, kind);
  }
};
template <unsigned Width> struct CopyOfKnownWidth {
  __device__ __forceinline__ static void make(unsigned long long site, Bytes to, Bytes from, Size bytes,
                                              Size rank, Size threads, unsigned kind) {
    accesses_of_thread<Width>(site, kind == kind_store ? to : from, bytes, rank, threads, kind);
  }
};
template <> struct GroupCopy<4> : CopyOfKnownWidth<4> {};
template <> struct GroupCopy<8> : CopyOfKnownWidth<8> {};
template <> struct GroupCopy<16> : CopyOfKnownWidth<16> {};

/// The address in inline PTX: a pointer, or a number. In shared memory that is an offset of 32 bits.
template <class T> __device__ __forceinline__ Bytes address_in_ptx(T* pointer, unsigned) {
  return bytes_at(pointer);
}
template <class T> __device__ __forceinline__ Bytes address_in_ptx(T address, unsigned kind) {
  return kind == kind_store ? bytes_at(__cvta_shared_to_generic(static_cast<Size>(address)))
                            : reinterpret_cast<Bytes>(static_cast<Size>(address));
}
#endif

/// __pipeline_memcpy_async(to, from, bytes[, zeros]): its last bytes are zero, and are not loaded.
template <class To, class From>
WARPLENS_PROBE void pipeline_copy(unsigned long long site, unsigned kind, To* to, From* from, Size bytes,
                                  Size zeros) {
#if defined(__CUDA_ARCH__)
  if (kind == kind_store)
    access_of_some_bytes(site, bytes_at(to), unsigned(bytes), kind);
  else if (zeros < bytes)
    access_of_some_bytes(site, bytes_at(from), unsigned(bytes - zeros), kind);
#else
  static_cast<void>(site), static_cast<void>(kind), static_cast<void>(to), static_cast<void>(from);
  static_cast<void>(bytes), static_cast<void>(zeros);
#endif
}

/// cuda::memcpy_async([group,] to, from, bytes, barrier or pipeline)
template <class T, class From, class Count>
WARPLENS_PROBE void threads_copy(unsigned long long site, unsigned kind, Size rank, Size threads, T* to,
                                 From* from, const Count& bytes) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned width = at_most_16(larger(Alignment<T>::bytes, SizeAlignment<Count>::bytes));
  CopyOfKnownWidth<width>::make(site, bytes_at(to), bytes_at(from), static_cast<Size>(bytes), rank, threads,
                                kind);
#else
  static_cast<void>(site), static_cast<void>(kind), static_cast<void>(rank), static_cast<void>(threads);
  static_cast<void>(to), static_cast<void>(from), static_cast<void>(bytes);
#endif
}

/// cooperative_groups::memcpy_async(group, to, from, bytes), where `unit` is 1; else elements are counted.
WARPLENS_ANY_CALLER
template <unsigned Aligned, class Group, class T, class From>
WARPLENS_PROBE void group_copy(unsigned long long site, unsigned kind, const Group& group, T* to, From* from,
                               Size bytes) {
#if defined(__CUDA_ARCH__)
  GroupCopy<at_most_16(Aligned)>::make(site, bytes_at(to), bytes_at(from), bytes, group.thread_rank(),
                                       group.size(), kind);
#else
  static_cast<void>(site), static_cast<void>(kind), static_cast<void>(group), static_cast<void>(to);
  static_cast<void>(from), static_cast<void>(bytes);
#endif
}
/// The alignment that cooperative_groups::memcpy_async() knows: a size's, if it has one, or an element's.
template <class T, class Count> struct GroupAlignment {
  static constexpr unsigned bytes =
      SizeAlignment<Count>::bytes > 1 ? SizeAlignment<Count>::bytes : Alignment<T>::bytes;
};

} // namespace detail

#define WARPLENS_COPY(side, kind)                                                                            \
  template <class To, class From>                                                                            \
  WARPLENS_PROBE void pipeline_copy_##side(unsigned long long site, To* to, From* from, detail::Size bytes,  \
                                           detail::Size zeros = 0) {                                         \
    detail::pipeline_copy(site, kind, to, from, bytes, zeros);                                               \
  }                                                                                                          \
  template <class To, class From, class Count, class Sync>                                                   \
  WARPLENS_PROBE void thread_copy_##side(unsigned long long site, To* to, From* from, const Count& bytes,    \
                                         const Sync&) {                                                      \
    detail::threads_copy(site, kind, 0, 1, to, from, bytes);                                                 \
  }                                                                                                          \
  WARPLENS_ANY_CALLER                                                                                        \
  template <class Group, class To, class From, class Count, class Sync>                                      \
  WARPLENS_PROBE void threads_copy_##side(unsigned long long site, const Group& group, To* to, From* from,   \
                                          const Count& bytes, const Sync&) {                                 \
    detail::threads_copy(site, kind, group.thread_rank(), group.size(), to, from, bytes);                    \
  }                                                                                                          \
  WARPLENS_ANY_CALLER                                                                                        \
  template <class Group, class To, class From, class Count>                                                  \
  WARPLENS_PROBE void group_copy_##side(unsigned long long site, const Group& group, To* to, From* from,     \
                                        const Count& bytes) {                                                \
    detail::group_copy<detail::GroupAlignment<To, Count>::bytes>(site, kind, group, to, from,                \
                                                                 static_cast<detail::Size>(bytes));          \
  }                                                                                                          \
  WARPLENS_ANY_CALLER                                                                                        \
  template <class Group, class To, class Elements, class From, class Others>                                 \
  WARPLENS_PROBE void group_copy_of_elements_##side(unsigned long long site, const Group& group, To* to,     \
                                                    const Elements& elements, From* from,                    \
                                                    const Others& others) {                                  \
    const detail::Size a = static_cast<detail::Size>(elements), b = static_cast<detail::Size>(others);       \
    detail::group_copy<detail::GroupAlignment<To, Elements>::bytes>(site, kind, group, to, from,             \
                                                                    (a < b ? a : b) * sizeof(To));           \
  }                                                                                                          \
  template <unsigned Bytes, class T>                                                                         \
  WARPLENS_PROBE T copied_##side(bool records, unsigned long long site, T address) {                         \
    WARPLENS_COPIED(records, site, address, kind);                                                           \
    return address;                                                                                          \
  }                                                                                                          \
  template <unsigned Bytes, class T> WARPLENS_PROBE T copied_##side(unsigned long long site, T address) {    \
    return copied_##side<Bytes>(true, site, address);                                                        \
  }
#if defined(__CUDA_ARCH__)
#define WARPLENS_COPIED(records, site, address, kind)                                                        \
  if (records)                                                                                               \
  detail::access(site, detail::address_in_ptx(address, kind), Bytes, kind)
#else
#define WARPLENS_COPIED(records, site, address, kind) static_cast<void>(records), static_cast<void>(site)
#endif
WARPLENS_COPY(to, detail::kind_store)
WARPLENS_COPY(from, detail::kind_load)
#undef WARPLENS_COPY
#undef WARPLENS_COPIED
#undef WARPLENS_ANY_CALLER

} // namespace warplens
