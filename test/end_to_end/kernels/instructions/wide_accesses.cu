// flags: -arch=sm_100
// Loads and stores of 32 bytes, whole and with words that are left out; a compare-and-swap of 16.
#include "../device/check.h"

constexpr int words = 8, threads = 32;

__device__ alignas(32) float source[words * threads + words];

__global__ void fill() {
  for (int i = threadIdx.x; i < words * threads + words; i += threads)
    source[i] = float(i);
}

__global__ void whole(float* out) {
  float x[words];
  asm volatile("ld.global.v8.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8+32];"
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]), "=f"(x[7])
               : "l"(source + words * threadIdx.x));
  for (int i = 0; i < words; ++i)
    x[i] *= 2;
  asm volatile("st.global.v8.f32 [%0+-32], {%1,%2,%3,%4,%5,%6,%7,%8};" ::"l"(out + words * threadIdx.x + words), "f"(x[0]), "f"(x[1]),
               "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7])
               : "memory");
}

/// Words 1, 2 and 6 are used, then word 3 alone, then word 7 alone.
__global__ void parts(float* out) {
  float a, b, c, d, e;
  const float* from = source + words * threadIdx.x;
  asm volatile("ld.global.v8.f32 {_,%0,%1,_,_,_,%2,_}, [%3];" : "=f"(a), "=f"(b), "=f"(c) : "l"(from));
  asm volatile("ld.global.v8.f32 {_,_,_,%0,_,_,_,_}, [%1];" : "=f"(d) : "l"(from));
  asm volatile("ld.global.v8.f32 {_,_,_,_,_,_,_,%0}, [%1];" : "=f"(e) : "l"(from));
  const float found[] = {a, b, c, d, e};
  for (int i = 0; i < 5; ++i)
    out[5 * threadIdx.x + i] = found[i];
}

__global__ void doubles(unsigned long long* out) {
  unsigned long long x[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
  asm volatile("st.global.v4.b64 [%0], {%1,%2,%3,%4};" ::"l"(out + 4 * threadIdx.x), "l"(x[0]), "l"(x[1]), "l"(x[2]), "l"(x[3]) : "memory");
}

struct alignas(16) Pair {
  unsigned long long first, second;
};
__device__ Pair pair = {1, 2};

/// The first swap finds what it expects, the second does not.
__global__ void swap(unsigned long long* out) {
  for (int i = 0; i < 2; ++i)
    asm volatile("{.reg .b128 a, b, d;\n\tmov.b128 a, {%2, %3};\n\tmov.b128 b, {%4, %5};\n\t"
                 "atom.global.b128.cas d, [%6], a, b;\n\tmov.b128 {%0, %1}, d;}"
                 : "=l"(out[2 * i]), "=l"(out[2 * i + 1])
                 : "l"(1ull), "l"(2ull), "l"(3ull), "l"(4ull), "l"(&pair)
                 : "memory");
  out[4] = pair.first;
  out[5] = pair.second;
}

int main() {
  fill<<<1, threads>>>();
  check<float>("whole", whole, 1, threads, words * threads, [](int i) { return 2 * (i + words); });
  check<float>("parts", parts, 1, threads, 5 * threads, [](int i) {
    const int word[] = {1, 2, 6, 3, 7};
    return i / 5 * words + word[i % 5];
  });
  check<unsigned long long>("doubles", doubles, 1, threads, 4 * threads, [](int i) { return i / 4 + i % 4; });
  check<unsigned long long>("swap", swap, 1, 1, 6, [](int i) { return i < 2 ? i + 1 : i % 2 == 0 ? 3 : 4; });
}
