// Device functions on integers and bits (CUDA Math API, "Integer Intrinsics" and "Type Casting Intrinsics").
#include <algorithm>
#include <bit>
#include <cstdint>

namespace {

template <class T> int position_of_first_one(T value) {
  return value == 0 ? 0 : std::countr_zero(value) + 1;
}

std::uint32_t reversed(std::uint32_t value) {
  value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
  value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
  value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(value);
}

/// Returns the low 24 bits, sign-extended.
std::int32_t low24(std::int32_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8) >> 8;
}

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

} // namespace

extern "C" {

int __nv_abs(int a) {
  return static_cast<int>(a < 0 ? 0u - static_cast<unsigned>(a) : static_cast<unsigned>(a));
}
long long __nv_llabs(long long a) {
  return static_cast<long long>(a < 0 ? 0ull - static_cast<unsigned long long>(a) : a);
}
int __nv_min(int a, int b) {
  return std::min(a, b);
}
int __nv_max(int a, int b) {
  return std::max(a, b);
}
unsigned __nv_umin(unsigned a, unsigned b) {
  return std::min(a, b);
}
unsigned __nv_umax(unsigned a, unsigned b) {
  return std::max(a, b);
}
long long __nv_llmin(long long a, long long b) {
  return std::min(a, b);
}
long long __nv_llmax(long long a, long long b) {
  return std::max(a, b);
}
unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) {
  return std::min(a, b);
}
unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) {
  return std::max(a, b);
}

int __nv_brev(int a) {
  return static_cast<int>(reversed(static_cast<std::uint32_t>(a)));
}
long long __nv_brevll(long long a) {
  const auto bits = static_cast<std::uint64_t>(a);
  return static_cast<long long>(std::uint64_t{reversed(static_cast<std::uint32_t>(bits))} << 32 |
                                reversed(static_cast<std::uint32_t>(bits >> 32)));
}
int __nv_clz(int a) {
  return std::countl_zero(static_cast<std::uint32_t>(a));
}
int __nv_clzll(long long a) {
  return std::countl_zero(static_cast<std::uint64_t>(a));
}
int __nv_ffs(int a) {
  return position_of_first_one(static_cast<std::uint32_t>(a));
}
int __nv_ffsll(long long a) {
  return position_of_first_one(static_cast<std::uint64_t>(a));
}
int __nv_popc(unsigned a) {
  return std::popcount(a);
}
int __nv_popcll(unsigned long long a) {
  return std::popcount(a);
}

/// Each result byte is the byte of b:a (a low) that the low three bits of its selector nibble name.
int __nv_byte_perm(int a, int b, int selector) {
  const std::uint64_t bytes =
      std::uint64_t{static_cast<std::uint32_t>(b)} << 32 | static_cast<std::uint32_t>(a);
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<std::uint32_t>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return static_cast<int>(result);
}

int __nv_mul24(int a, int b) {
  return static_cast<int>(std::int64_t{low24(a)} * low24(b));
}
unsigned __nv_umul24(unsigned a, unsigned b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
int __nv_mulhi(int a, int b) {
  return static_cast<int>(std::int64_t{a} * b >> 32);
}
unsigned __nv_umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
long long __nv_mul64hi(long long a, long long b) {
  return static_cast<long long>(Int128{a} * b >> 64);
}
unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(UInt128{a} * b >> 64);
}

int __nv_sad(int a, int b, int c) {
  const auto difference = static_cast<unsigned>(a < b ? std::int64_t{b} - a : std::int64_t{a} - b);
  return static_cast<int>(difference + static_cast<unsigned>(c));
}
unsigned __nv_usad(unsigned a, unsigned b, unsigned c) {
  return (a < b ? b - a : a - b) + c;
}
int __nv_hadd(int a, int b) {
  return static_cast<int>((std::int64_t{a} + b) >> 1);
}
int __nv_rhadd(int a, int b) {
  return static_cast<int>((std::int64_t{a} + b + 1) >> 1);
}
int __nv_uhadd(unsigned a, unsigned b) {
  return static_cast<int>((std::uint64_t{a} + b) >> 1);
}
unsigned __nv_urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1);
}

int __nv_float_as_int(float a) {
  return std::bit_cast<int>(a);
}
unsigned __nv_float_as_uint(float a) {
  return std::bit_cast<unsigned>(a);
}
float __nv_int_as_float(int a) {
  return std::bit_cast<float>(a);
}
float __nv_uint_as_float(unsigned a) {
  return std::bit_cast<float>(a);
}
unsigned long long __nv_double_as_longlong(double a) {
  return std::bit_cast<unsigned long long>(a);
}
double __nv_longlong_as_double(long long a) {
  return std::bit_cast<double>(a);
}
int __nv_double2hiint(double a) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(a) >> 32);
}
int __nv_double2loint(double a) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(a));
}
double __nv_hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<std::uint32_t>(high)} << 32 |
                               static_cast<std::uint32_t>(low));
}

} // extern "C"
