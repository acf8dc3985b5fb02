// How many iterations' copies of an access lie next to each other; the expected numbers are those of nvcc
// 13.0's PTX (-O3 -arch=sm_80).
#include "analysis/adjacent_copies.h"
#include "test/analysis/parsed.h"
#include "test/catch.h"

using namespace warplens;
using namespace warplens::test;

namespace {

/// Parses a kernel with this body, and functions before it.
Parsed kernel(const std::string& body, const std::string& before = {}) {
  return Parsed(before +
                "__global__ void k(const float* a, const int* b, float* out, int n, int m) {\n"
                "int t = threadIdx_x; float s = 0;\n" +
                body + "\nout[t] = s; }");
}

unsigned copies(const std::string& loop, const std::string& access = "a[i * 1024 + t]") {
  Parsed parsed = kernel(loop);
  return parsed.access_left(access).copies;
}

std::string sum(const std::string& loop) {
  return loop + "\ns += a[i * 1024 + t];";
}

} // namespace

TEST_CASE("iterations that are known at run time are unrolled by four", "[adjacent_copies]") {
  CHECK(copies(sum("for (int i = 0; i < n; ++i)")) == 4);
  CHECK(copies(sum("for (int i = n - 1; i >= 0; --i)")) == 4);
  CHECK(copies(sum("for (int i = t; i < n; i += 256)")) == 4);
  CHECK(copies(sum("for (unsigned long i = 0; i < n; ++i)")) == 4);
  CHECK(copies("int i = 0; while (i < n) { s += a[i * 1024 + t]; ++i; }") == 4);
  CHECK(copies("int i = 0; do s += a[i * 1024 + t]; while (++i < n);") == 4);
  CHECK(copies(sum("#pragma unroll\nfor (int i = 0; i < n; ++i)")) == 4);
}

TEST_CASE("a constant number of iterations: all, or a power of two that divides it", "[adjacent_copies]") {
  for (const auto& [iterations, in_block] : {std::pair(4u, 4u),
                                             {8, 8},
                                             {16, 16},
                                             {32, 32},
                                             {64, 64},
                                             {66, 2},
                                             {68, 4},
                                             {96, 96},
                                             {99, 3},
                                             {100, 4},
                                             {128, 16},
                                             {512, 16},
                                             {1000, 8},
                                             {1021, 3}}) {
    INFO(iterations);
    CHECK(copies(sum("for (int i = 0; i < " + std::to_string(iterations) + "; ++i)")) == in_block);
  }
}

TEST_CASE("#pragma unroll is obeyed", "[adjacent_copies]") {
  CHECK(copies(sum("#pragma unroll 1\nfor (int i = 0; i < n; ++i)")) == 1);
  CHECK(copies(sum("#pragma unroll 8\nfor (int i = 0; i < n; ++i)")) == 8);
  CHECK(copies(sum("#pragma unroll 32\nfor (int i = 0; i < n; ++i)")) == 32);
  CHECK(copies(sum("#pragma unroll\nfor (int i = 0; i < 37; ++i)")) == 37);
  CHECK(copies(sum("#pragma unroll 4\nfor (int i = 0; i < 64; ++i)")) == 4);
  CHECK(copies(sum("#pragma unroll 3\nfor (int i = 0; i < 64; ++i)")) == 2); // one, the exit, two
  CHECK(copies(sum("#pragma unroll\nfor (int i = 0; i < 1000; ++i)")) == analysis::max_adjacent_copies);
}

TEST_CASE("a loop that may end at any iteration has no adjacent copies", "[adjacent_copies]") {
  CHECK(copies("int i = 0; for (; i < n; ++i) { if (a[i * 1024 + t] < 0) break; } s = i;") == 1);
  CHECK(copies("int i = t; while (a[i * 1024 + t] > 0) i += 1024; s = i;") == 1);
  CHECK(copies(sum("for (int i = t; i < n; i += (unsigned)m)")) == 1); // i may wrap around
}

TEST_CASE("larger bodies have fewer copies", "[adjacent_copies]") {
  const std::string step = "s = s * x + u; u = u * s + v; v = v * u + x; s += x * x * u * v;";
  const auto body = [&](const std::string& loop, unsigned steps) {
    std::string text = "float u = 1, v = 2;" + loop + "{ float x = a[i * 1024 + t];";
    for (unsigned i = 0; i < steps; ++i)
      text += step;
    return text + "} s += u + v;";
  };
  for (const auto& [steps, in_block] : {std::pair(1u, 4u), {3, 4}, {6, 2}, {8, 2}, {12, 1}, {24, 1}}) {
    INFO(steps);
    CHECK(copies(body("for (int i = 0; i < n; ++i)", steps)) == in_block);
  }
  CHECK(copies(body("for (int i = 0; i < 24; ++i)", 1)) == 24);
  CHECK(copies(body("for (int i = 0; i < 64; ++i)", 1)) == 8);
}

TEST_CASE("the iterations of nested loops multiply", "[adjacent_copies]") {
  CHECK(copies("for (int i = 0; i < n; ++i) for (int j = 0; j < 3; ++j) s += a[(i * 3 + j) * 1024 + t];",
               "a[(i * 3 + j) * 1024 + t]") == 12);
  Parsed parsed = kernel("for (int i = 0; i < n; ++i) { s *= a[i]; for (int j = 0; j < m; ++j)"
                         " s += a[(i * m + j) * 1024 + t]; }");
  CHECK(parsed.access_left("a[i]").copies == 1);
  CHECK(parsed.access_left("a[(i * m + j) * 1024 + t]").copies == 4);
}

TEST_CASE("copies in different branches are not adjacent", "[adjacent_copies]") {
  Parsed parsed = kernel("for (int i = 0; i < n; ++i) if (a[i * 1024 + t] > 0) s += a[b[i]];");
  CHECK(parsed.access_left("a[i * 1024 + t]").copies == 1);
  CHECK(parsed.access_left("a[b[i]]").copies == 1);
}

TEST_CASE("a gather: the indices do not depend on each other, and neither do the values",
          "[adjacent_copies]") {
  Parsed parsed = kernel("for (int i = 0; i < n; ++i) s += a[b[i * 1024 + t]];");
  CHECK(parsed.access_left("b[i * 1024 + t]").copies == 4);
  CHECK(parsed.access_left("a[b[i * 1024 + t]]").copies == 4);
}

TEST_CASE("each load of a pointer chase waits for the one before", "[adjacent_copies]") {
  CHECK(copies("for (int i = 0; i < n; ++i) t = b[t]; s = t;", "b[t]") == 1);
  CHECK(copies("for (int i = 0; i < 8; ++i) t = b[t]; s = t;", "b[t]") == 1);
  Parsed late = kernel("for (int i = 0; i < n; ++i) { s += a[t]; t = b[i]; }");
  CHECK(late.access_left("a[t]").copies == 1); // by an index that the iteration before has loaded
  CHECK(late.access_left("b[i]").copies == 4);
}

TEST_CASE("a tile of shared memory is read at once, tiles are separated by barriers", "[adjacent_copies]") {
  Parsed parsed(R"(__global__ void k(const float* a, const float* b, float* c, int n, int x, int y) {
    __shared__ float as[16][16], bs[16][16];
    float sum = 0;
    for (int m = 0; m < n / 16; ++m) {
      as[y][x] = a[y * n + m * 16 + x];
      bs[y][x] = b[(m * 16 + y) * n + x];
      __syncthreads();
      for (int k = 0; k < 16; ++k)
        sum += as[y][k] * bs[k][x];
      __syncthreads();
    }
    c[y * n + x] = sum;
  })");
  for (const char* tile : {"a[y * n + m * 16 + x]", "b[(m * 16 + y) * n + x]", "as[y][x]", "bs[y][x]"}) {
    INFO(tile);
    CHECK(parsed.access_left(tile).copies == 1);
  }
  CHECK(parsed.access_left("bs[k][x]").copies == 16);
}

TEST_CASE("a load stays behind a store that waits and may be to its place", "[adjacent_copies]") {
  const auto copies_of_load = [](const std::string& parameters, const std::string& statement) {
    Parsed parsed("__global__ void k(" + parameters +
                  ", int n, int t, int stride) { for (int i = 0; i < n; ++i) " + statement + " }");
    return parsed.access_left("a[i * 1024 + t]").copies;
  };
  const std::string copy = "o[i * 1024 + t] = a[i * 1024 + t];";
  CHECK(copies_of_load("const float* a, float* o", copy) == 1);
  CHECK(copies_of_load("const float* __restrict__ a, float* __restrict__ o", copy) == 4); // ld.global.nc
  CHECK(copies_of_load("float* a", "a[i * 1024 + t] += 1;") == 4); // 4096 bytes further each time
  CHECK(copies_of_load("float* a", "{ int u = t * (unsigned)stride; a[i * 1024 + t] += u; }") == 4);
  CHECK(copies_of_load("float* a", "a[i * 1024 + t + 1024] = a[i * 1024 + t];") == 1);
  CHECK(copies_of_load("const float* a, float* o", "{ o[t] += a[i * 1024 + t]; o[i * stride] = 1; }") == 1);
  CHECK(copies_of_load("const float* a, int* h", "h[i] = i + (a[i * 1024 + t] > 0);") == 1);
}

TEST_CASE("copies of an access in a function that is inlined", "[adjacent_copies]") {
  Parsed parsed = kernel("for (int i = 0; i < 8; ++i) s += at(a, i); s += at(a, n) + at(a, m);",
                         "__device__ float at(const float* p, int i) { return p[i * 1024]; }\n");
  CHECK(parsed.access_left("p[i * 1024]").copies == 8);
}

TEST_CASE("words of one iteration count once", "[adjacent_copies]") {
  Parsed parsed(R"(__global__ void k(const float4* a, float4* __restrict__ out, int n, int t) {
    float4 sum = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
      float4 v = a[i * 1024 + t];
      sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    }
    out[t] = sum;
  })");
  CHECK(parsed.access_left("a[i * 1024 + t]").copies == 4);
}

TEST_CASE("atomics and loads through the read-only path", "[adjacent_copies]") {
  Parsed parsed(R"(__global__ void k(const float* a, int* h, float* out, int n, int t) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += __ldg(a + i * 1024);
    for (int i = 0; i < n; ++i) atomicAdd(h + i, 1);
    out[t] = sum;
  })");
  CHECK(parsed.access_left("a + i * 1024").copies == 4);
  CHECK(parsed.access_left("h + i").copies == 4);
}
