// nvcuda::wmma for half, on the CPU back end: the built-ins that <mma.h> needs, as device functions of loads,
// stores and shuffles. The implementation may choose which lane holds which elements (CUDA C++ Programming
// Guide, "Warp Matrix Functions"); this one gives each lane as many consecutive elements, row by row, for any
// layout in memory. Sums are of single precision, one product after the other.
#pragma once

#ifdef __WARPLENS_CPU__

namespace warplens_wmma {

typedef _Float16 __attribute__((may_alias)) Half;
typedef float __attribute__((may_alias)) Float;
typedef unsigned __attribute__((may_alias)) Pair; // two halves

#define WARPLENS_DEVICE static inline __attribute__((device, always_inline))

WARPLENS_DEVICE unsigned lane() {
  unsigned number;
  asm("mov.u32 %0, %%laneid;" : "=r"(number));
  return number;
}

WARPLENS_DEVICE unsigned of_lane(unsigned value, unsigned from) {
  unsigned result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(from));
  return result;
}

WARPLENS_DEVICE void meet() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

/// Returns the address of this lane's element `slot`.
template <int columns, int held>
WARPLENS_DEVICE unsigned long place(int slot, unsigned stride, bool by_column) {
  const unsigned element = lane() * held + slot, row = element / columns, column = element % columns;
  return by_column ? column * static_cast<unsigned long>(stride) + row
                   : row * static_cast<unsigned long>(stride) + column;
}

template <class T, int rows, int columns, int slots>
WARPLENS_DEVICE void load(T* fragment, const T* memory, unsigned stride, int by_column) {
  constexpr int held = rows * columns / 32;
  for (int slot = 0; slot < slots; ++slot) // surplus slots repeat the others
    fragment[slot] = memory[place<columns, held>(slot % held, stride, by_column)];
  meet();
}

template <int m, int n>
WARPLENS_DEVICE void load_a(int* a, const int* memory, unsigned stride, int by_column) {
  load<Half, m, 16, 16>(reinterpret_cast<Half*>(a), reinterpret_cast<const Half*>(memory), stride, by_column);
}
template <int m, int n>
WARPLENS_DEVICE void load_b(int* b, const int* memory, unsigned stride, int by_column) {
  load<Half, 16, n, 16>(reinterpret_cast<Half*>(b), reinterpret_cast<const Half*>(memory), stride, by_column);
}
template <int m, int n, class T, class Word>
WARPLENS_DEVICE void load_c(Word* c, const Word* memory, unsigned stride, int by_column) {
  load<T, m, n, 8>(reinterpret_cast<T*>(c), reinterpret_cast<const T*>(memory), stride, by_column);
}
template <int m, int n, class T, class Word>
WARPLENS_DEVICE void store_c(Word* memory, Word* c, unsigned stride, int by_column) {
  for (int slot = 0; slot < 8; ++slot)
    reinterpret_cast<T*>(memory)[place<n, 8>(slot, stride, by_column)] = reinterpret_cast<const T*>(c)[slot];
  meet();
}

WARPLENS_DEVICE float low(unsigned pair) {
  return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<unsigned short>(pair)));
}
WARPLENS_DEVICE float high(unsigned pair) {
  return low(pair >> 16);
}

/// Implements .satfinite.
template <class T> WARPLENS_DEVICE float finite(float value) {
  const float most = sizeof(T) == 2 ? 65504.0f : 3.402823466e38f;
  return value != value ? 0 : value > most ? most : value < -most ? -most : value;
}

/// d = a b + c. A lane's eight sums belong to one row: they need that row of a, and eight columns of b.
template <int m, int n, class D, class C, class DWord, class CWord>
WARPLENS_DEVICE void multiply(DWord* d, const int* a, const int* b, const CWord* c, int /*layout*/,
                              int saturates) {
  constexpr unsigned held_a = m / 2, held_b = n / 2;
  const unsigned first = lane() * 8, row = first / n, column = first % n;
  float sums[8], factors[16];
  for (int i = 0; i < 8; ++i)
    sums[i] = static_cast<float>(reinterpret_cast<const C*>(c)[i]);
  const auto* pairs_a = reinterpret_cast<const Pair*>(a);
  const auto* pairs_b = reinterpret_cast<const Pair*>(b);
  for (unsigned k = 0; k < 16; k += 2) {
    const unsigned pair = of_lane(pairs_a[k % held_a / 2], (row * 16 + k) / held_a);
    factors[k] = low(pair);
    factors[k + 1] = high(pair);
  }
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned j = 0; j < 8; j += 2) {
      const unsigned from = (k * n + column + j) / held_b;
      unsigned pair = of_lane(pairs_b[j % held_b / 2], from);
      if (n == 32) { // selects the upper eight of a lane's 16 columns
        const unsigned other = of_lane(pairs_b[j / 2 + 4], from);
        pair = column % 16 ? other : pair;
      }
      sums[j] = __builtin_fmaf(factors[k], low(pair), sums[j]);
      sums[j + 1] = __builtin_fmaf(factors[k], high(pair), sums[j + 1]);
    }
  for (int i = 0; i < 8; ++i)
    reinterpret_cast<D*>(d)[i] = static_cast<D>(saturates ? finite<D>(sums[i]) : sums[i]);
}

#undef WARPLENS_DEVICE

} // namespace warplens_wmma

#define __hmma_m16n16k16_ld_a ::warplens_wmma::load_a<16, 16>
#define __hmma_m16n16k16_ld_b ::warplens_wmma::load_b<16, 16>
#define __hmma_m16n16k16_ld_c_f16 ::warplens_wmma::load_c<16, 16, ::warplens_wmma::Half>
#define __hmma_m16n16k16_ld_c_f32 ::warplens_wmma::load_c<16, 16, ::warplens_wmma::Float>
#define __hmma_m16n16k16_st_c_f16 ::warplens_wmma::store_c<16, 16, ::warplens_wmma::Half>
#define __hmma_m16n16k16_st_c_f32 ::warplens_wmma::store_c<16, 16, ::warplens_wmma::Float>
#define __hmma_m16n16k16_mma_f16f16                                                                          \
  ::warplens_wmma::multiply<16, 16, ::warplens_wmma::Half, ::warplens_wmma::Half>
#define __hmma_m16n16k16_mma_f32f16                                                                          \
  ::warplens_wmma::multiply<16, 16, ::warplens_wmma::Float, ::warplens_wmma::Half>
#define __hmma_m16n16k16_mma_f32f32                                                                          \
  ::warplens_wmma::multiply<16, 16, ::warplens_wmma::Float, ::warplens_wmma::Float>
#define __hmma_m16n16k16_mma_f16f32                                                                          \
  ::warplens_wmma::multiply<16, 16, ::warplens_wmma::Half, ::warplens_wmma::Float>
#define __hmma_m32n8k16_ld_a ::warplens_wmma::load_a<32, 8>
#define __hmma_m32n8k16_ld_b ::warplens_wmma::load_b<32, 8>
#define __hmma_m32n8k16_ld_c_f16 ::warplens_wmma::load_c<32, 8, ::warplens_wmma::Half>
#define __hmma_m32n8k16_ld_c_f32 ::warplens_wmma::load_c<32, 8, ::warplens_wmma::Float>
#define __hmma_m32n8k16_st_c_f16 ::warplens_wmma::store_c<32, 8, ::warplens_wmma::Half>
#define __hmma_m32n8k16_st_c_f32 ::warplens_wmma::store_c<32, 8, ::warplens_wmma::Float>
#define __hmma_m32n8k16_mma_f16f16                                                                           \
  ::warplens_wmma::multiply<32, 8, ::warplens_wmma::Half, ::warplens_wmma::Half>
#define __hmma_m32n8k16_mma_f32f16                                                                           \
  ::warplens_wmma::multiply<32, 8, ::warplens_wmma::Float, ::warplens_wmma::Half>
#define __hmma_m32n8k16_mma_f32f32                                                                           \
  ::warplens_wmma::multiply<32, 8, ::warplens_wmma::Float, ::warplens_wmma::Float>
#define __hmma_m32n8k16_mma_f16f32                                                                           \
  ::warplens_wmma::multiply<32, 8, ::warplens_wmma::Half, ::warplens_wmma::Float>
#define __hmma_m8n32k16_ld_a ::warplens_wmma::load_a<8, 32>
#define __hmma_m8n32k16_ld_b ::warplens_wmma::load_b<8, 32>
#define __hmma_m8n32k16_ld_c_f16 ::warplens_wmma::load_c<8, 32, ::warplens_wmma::Half>
#define __hmma_m8n32k16_ld_c_f32 ::warplens_wmma::load_c<8, 32, ::warplens_wmma::Float>
#define __hmma_m8n32k16_st_c_f16 ::warplens_wmma::store_c<8, 32, ::warplens_wmma::Half>
#define __hmma_m8n32k16_st_c_f32 ::warplens_wmma::store_c<8, 32, ::warplens_wmma::Float>
#define __hmma_m8n32k16_mma_f16f16                                                                           \
  ::warplens_wmma::multiply<8, 32, ::warplens_wmma::Half, ::warplens_wmma::Half>
#define __hmma_m8n32k16_mma_f32f16                                                                           \
  ::warplens_wmma::multiply<8, 32, ::warplens_wmma::Float, ::warplens_wmma::Half>
#define __hmma_m8n32k16_mma_f32f32                                                                           \
  ::warplens_wmma::multiply<8, 32, ::warplens_wmma::Float, ::warplens_wmma::Float>
#define __hmma_m8n32k16_mma_f16f32                                                                           \
  ::warplens_wmma::multiply<8, 32, ::warplens_wmma::Half, ::warplens_wmma::Float>

#endif
