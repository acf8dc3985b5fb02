// Tests which local variables a GPU has in memory. Each expectation was compared with nvcc 13.0's code for
// sm_80 (`nvcc -ptx`, `ptxas -v`).
#include "test/analysis/parsed.h"
#include "test/catch.h"

#include <fmt/format.h>

using warplens::test::Parsed;

TEST_CASE("an array that is indexed at run time is in memory, all of it", "[local memory]") {
  Parsed parsed(R"(__global__ void k(const float* in, float* out, const int* at, int n) {
    float table[64];
    for (int i = 0; i < 64; ++i)
      table[i] = in[i];
    table[7] += 1;
    for (int i = 0; i < n; ++i)
      out[i] = table[at[i]];
  })");
  CHECK(parsed.in_local_memory("table[i]"));
  CHECK(parsed.in_local_memory("table[at[i]]"));
  CHECK(parsed.in_local_memory("table[7]"));
}

TEST_CASE("loops are unrolled for the sake of an array, but not to any size", "[local memory]") {
  const auto in_memory = [](int elements, int steps) {
    Parsed parsed(fmt::format(R"(__global__ void k(const float* in, float* out, int n) {{
      float table[{0}];
      for (int i = 0; i < {0}; ++i)
        table[i] = in[i * n];
      float sum = 0;
      for (int i = 0; i < {0}; ++i) {{
        float x = table[i], y = in[i];
        {1}
        sum += x;
      }}
      out[0] = sum;
    }})",
                              elements, [&] {
                                std::string text;
                                for (int step = 0; step < steps; ++step)
                                  text += fmt::format("x = x * y + {}.5f; ", step);
                                return text;
                              }()));
    return parsed.in_local_memory("table[i]", 1);
  };
  CHECK_FALSE(in_memory(16, 1));
  CHECK_FALSE(in_memory(64, 5));
  CHECK_FALSE(in_memory(256, 1));
  CHECK_FALSE(in_memory(32, 20));
  CHECK_FALSE(in_memory(64, 10));
  CHECK_FALSE(in_memory(128, 5));
  CHECK(in_memory(32, 40));
  CHECK(in_memory(64, 20));
  CHECK(in_memory(128, 10));
  CHECK(in_memory(256, 5));
  CHECK(in_memory(512, 1));
}

TEST_CASE("loops over loops, and loops that end early, are unrolled too", "[local memory]") {
  Parsed parsed(R"(__global__ void k(const float* in, float* out, int n) {
    float sums[8][8] = {};
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
          sums[i][j] += in[k * 8 + i] * in[k * 16 + j];
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        out[i * 8 + j] = sums[i][j];
    float sorted[16];
    for (int i = 0; i < 16; ++i) {
      sorted[i] = in[i * n];
      if (sorted[i] < 0)
        break;
    }
    for (int i = 0; i < 16; ++i)
      for (int j = i + 1; j < 16; ++j)
        if (sorted[j] < sorted[i]) {
          const float other = sorted[i];
          sorted[i] = sorted[j];
          sorted[j] = other;
        }
    for (int i = 0; i < 16; ++i)
      out[i * n] = sorted[i];
  })");
  for (const char* text : {"sums[i][j]", "sorted[i]", "sorted[j]"})
    CHECK_FALSE(parsed.in_local_memory(text));
}

TEST_CASE("ptxas selects among the elements of a small array", "[local memory]") {
  Parsed parsed(R"(__device__ __attribute__((noinline)) float first(const float* a, int i) { return a[i]; }
  __global__ void k(const float* in, float* out, const int* at, int n) {
    float small[4], large[8], shown[2];
    for (int i = 0; i < 4; ++i)
      small[i] = in[i];
    for (int i = 0; i < 8; ++i)
      large[i] = in[i];
    shown[0] = in[0];
    shown[1] = in[1];
    float sum = first(shown, n);
    for (int i = 0; i < n; ++i)
      sum += small[at[i]] + large[at[i]];
    out[0] = sum;
  })");
  CHECK_FALSE(parsed.in_local_memory("small[at[i]]"));
  CHECK(parsed.in_local_memory("large[at[i]]"));
  CHECK(parsed.in_local_memory("shown[0]"));
  CHECK(parsed.in_local_memory("a[i]"));
}

TEST_CASE("if one instance of a template is in registers, none has a probe", "[local memory]") {
  Parsed parsed(R"(template <int n> __device__ float sum(const float* in, const int* at) {
    float table[n];
    for (int i = 0; i < n; ++i)
      table[i] = in[i];
    float total = 0;
    for (int i = 0; i < n; ++i)
      total += table[i] * table[n - 1 - i];
    return total;
  }
  __global__ void k(const float* in, float* out, const int* at) { out[0] = sum<8>(in, at) + sum<2000>(in, at); }
  __global__ void one(const float* in, float* out, const int* at) {
    float own[2000];
    for (int i = 0; i < 2000; ++i)
      own[i] = in[i];
    for (int i = 0; i < 2000; ++i)
      out[i] = own[1999 - i];
  })");
  CHECK_FALSE(parsed.in_local_memory("table[i]"));
  CHECK(parsed.in_local_memory("own[i]"));
}

TEST_CASE("a parameter passed by value is copied to local memory if it is written anywhere",
          "[local memory]") {
  Parsed parsed(R"(struct Large { float v[64]; };
  __global__ void reads(Large only_read, float* out, const int* at) { out[0] = only_read.v[at[0]]; }
  __global__ void writes(Large written, float* out, const int* at, int n) {
    for (int i = 0; i < n; ++i)
      written.v[at[i]] += 1;
    out[0] = written.v[at[n]];
  })");
  CHECK_FALSE(parsed.in_local_memory("only_read.v[at[0]]"));
  CHECK(parsed.in_local_memory("written.v[at[i]]"));
  CHECK(parsed.in_local_memory("written.v[at[n]]"));
}

TEST_CASE("toolkit functions that nvcc inlines keep nothing in memory", "[local memory]") {
  Parsed parsed(R"(extern "C" __device__ void __nv_sincosf(float x, float* sine, float* cosine);
  __device__ void other(float* both);
  __global__ void k(const float* in, float* out) {
    float both[8], passed_on[2];
    __nv_sincosf(in[0], &both[5], &both[6]);
    both[0] = in[1];
    passed_on[0] = in[2];
    other(passed_on);
    out[0] = both[0] + both[5] + both[6] + passed_on[1];
  })");
  CHECK_FALSE(parsed.in_local_memory("both[0]"));
  CHECK_FALSE(parsed.in_local_memory("both[5]"));
  CHECK(parsed.in_local_memory("passed_on[0]"));
}
