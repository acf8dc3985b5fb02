// CUDA's functions on two halves or four bytes of a word, each against plain C++ over edge cases and random words.
// flags: -arch=sm_80
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int edges = 12, words = edges + 20, pairs = words * words;

__host__ __device__ unsigned word(int i) {
  const unsigned known[edges] = {0,          ~0u,        0x80008000, 0x7fff7fff, 0x80808080, 0x7f7f7f7f,
                                 0x00010001, 0x01010101, 0xfffe0001, 0xff01fe02, 0x7fff8000, 0x807f00ff};
  return i < edges ? known[i] : 2654435761u * (i + 7) ^ (i * 40503u << 15);
}

/// Returns element `i` of `n`, signed or not.
long element(unsigned word, int i, int n, bool is_signed) {
  const unsigned bits = word >> (32 / n * i);
  if (n == 2)
    return is_signed ? long{static_cast<std::int16_t>(bits)} : long{static_cast<std::uint16_t>(bits)};
  return is_signed ? long{static_cast<std::int8_t>(bits)} : long{static_cast<std::uint8_t>(bits)};
}
long clamped(long value, int n, bool is_signed) {
  const long least = is_signed ? -(1l << (32 / n - 1)) : 0, most = (1l << (32 / n - is_signed)) - 1;
  return value < least ? least : value > most ? most : value;
}
long positive(long value) { return value < 0 ? -value : value; }
long larger(long a, long b) { return a > b ? a : b; }
long smaller(long a, long b) { return a < b ? a : b; }

// X(name, arguments, elements, signed?, the result for elements x and y)
#define COMPARISONS(X, n, sign, is_signed)                                                                         \
  X(__vcmpge##sign##n, (a, b), n, is_signed, -(x >= y))                                                            \
  X(__vcmpgt##sign##n, (a, b), n, is_signed, -(x > y))                                                             \
  X(__vcmple##sign##n, (a, b), n, is_signed, -(x <= y))                                                            \
  X(__vcmplt##sign##n, (a, b), n, is_signed, -(x < y))                                                             \
  X(__vsetge##sign##n, (a, b), n, is_signed, x >= y)                                                               \
  X(__vsetgt##sign##n, (a, b), n, is_signed, x > y)                                                                \
  X(__vsetle##sign##n, (a, b), n, is_signed, x <= y)                                                               \
  X(__vsetlt##sign##n, (a, b), n, is_signed, x < y)                                                                \
  X(__vabsdiff##sign##n, (a, b), n, is_signed, positive(x - y))                                                    \
  X(__vmax##sign##n, (a, b), n, is_signed, larger(x, y))                                                           \
  X(__vmin##sign##n, (a, b), n, is_signed, smaller(x, y))                                                          \
  X(__vadd##sign##s##n, (a, b), n, is_signed, clamped(x + y, n, is_signed))                                        \
  X(__vsub##sign##s##n, (a, b), n, is_signed, clamped(x - y, n, is_signed))                                        \
  X(__vavg##sign##n, (a, b), n, is_signed, x + y >= 0 ? (x + y + 1) / 2 : (x + y - 1) / 2)
#define OF_WIDTH(X, n)                                                                                             \
  COMPARISONS(X, n, s, true)                                                                                       \
  COMPARISONS(X, n, u, false)                                                                                      \
  X(__vabs##n, (a), n, true, positive(x))                                                                          \
  X(__vabsss##n, (a), n, true, clamped(positive(x), n, true))                                                      \
  X(__vneg##n, (a), n, true, -x)                                                                                   \
  X(__vnegss##n, (a), n, true, clamped(-x, n, true))                                                               \
  X(__vadd##n, (a, b), n, false, x + y)                                                                            \
  X(__vsub##n, (a, b), n, false, x - y)                                                                            \
  X(__vhaddu##n, (a, b), n, false, (x + y) / 2)                                                                    \
  X(__vcmpeq##n, (a, b), n, false, -(x == y))                                                                      \
  X(__vcmpne##n, (a, b), n, false, -(x != y))                                                                      \
  X(__vseteq##n, (a, b), n, false, x == y)                                                                         \
  X(__vsetne##n, (a, b), n, false, x != y)
#define ELEMENTWISE(X)                                                                                             \
  OF_WIDTH(X, 2)                                                                                                   \
  OF_WIDTH(X, 4)                                                                                                   \
  X(__vimax_s16x2_relu, (a, b), 2, true, larger(larger(x, y), 0))                                                  \
  X(__vimin_s16x2_relu, (a, b), 2, true, larger(smaller(x, y), 0))                                                 \
  X(__vimax3_s16x2, (a, b, 7), 2, true, larger(larger(x, y), i == 0 ? 7 : 0))                                      \
  X(__vimin3_u16x2, (a, b, 0x00090007), 2, false, smaller(smaller(x, y), i == 0 ? 7 : 9))                          \
  X(__viaddmax_s16x2, (a, b, 0x00090007), 2, true, larger(static_cast<std::int16_t>(x + y), i == 0 ? 7 : 9))       \
  X(__viaddmin_u16x2, (a, b, 0x00090007), 2, false, smaller(static_cast<std::uint16_t>(x + y), i == 0 ? 7 : 9))
#define SUMS(X)                                                                                                    \
  X(__vsads2, (a, b), 2, true, positive(x - y))                                                                    \
  X(__vsadu2, (a, b), 2, false, positive(x - y))                                                                   \
  X(__vsads4, (a, b), 4, true, positive(x - y))                                                                    \
  X(__vsadu4, (a, b), 4, false, positive(x - y))

#define COUNT(...) +1
constexpr int functions = ELEMENTWISE(COUNT) SUMS(COUNT);

__global__ void compute(unsigned* out) {
  const unsigned a = word(blockIdx.x), b = word(threadIdx.x);
  int place = blockIdx.x * words + threadIdx.x - pairs;
#define X(name, arguments, n, is_signed, formula) out[place += pairs] = name arguments;
  ELEMENTWISE(X)
  SUMS(X)
#undef X
}

__global__ void not_numbers(double* doubles, float* floats) {
  doubles[0] = nan("");
  floats[0] = nanf("7");
}

int main() {
  unsigned* out;
  cudaMallocManaged(&out, functions * pairs * sizeof(unsigned));
  compute<<<words, words>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess)
    std::puts("they do not run");
  const unsigned* results = out;
  const auto check = [&](const char* name, auto expected) {
    bool right = true;
    for (int i = 0; i < pairs && right; ++i) {
      const unsigned a = word(i / words), b = word(i % words), wanted = expected(a, b);
      right = results[i] == wanted;
      if (!right)
        std::printf("%s(%#010x, %#010x): %#010x instead of %#010x\n", name, a, b, results[i], wanted);
    }
    results += pairs;
    std::printf("%s: %s\n", name, right ? "right" : "wrong");
  };
#define X(name, arguments, n, is_signed, formula)                                                                  \
  check(#name, [](unsigned a, unsigned b) {                                                                        \
    unsigned result = 0;                                                                                           \
    for (int i = 0; i < n; ++i) {                                                                                  \
      const long x = element(a, i, n, is_signed), y = element(b, i, n, is_signed);                                 \
      (void)y;                                                                                                     \
      result |= (static_cast<unsigned>(static_cast<long>(formula)) & (n == 2 ? 0xffffu : 0xffu)) << (32 / n * i);  \
    }                                                                                                              \
    return result;                                                                                                 \
  });
  ELEMENTWISE(X)
#undef X
#define X(name, arguments, n, is_signed, formula)                                                                  \
  check(#name, [](unsigned a, unsigned b) {                                                                        \
    unsigned result = 0;                                                                                           \
    for (int i = 0; i < n; ++i) {                                                                                  \
      const long x = element(a, i, n, is_signed), y = element(b, i, n, is_signed);                                 \
      result += static_cast<unsigned>(formula);                                                                    \
    }                                                                                                              \
    return result;                                                                                                 \
  });
  SUMS(X)
#undef X
  double* doubles;
  float* floats;
  cudaMallocManaged(&doubles, sizeof(double));
  cudaMallocManaged(&floats, sizeof(float));
  not_numbers<<<1, 1>>>(doubles, floats);
  const bool ended = cudaDeviceSynchronize() == cudaSuccess;
  std::printf("nan: %s\n", ended && *doubles != *doubles && *floats != *floats ? "right" : "wrong");
}
