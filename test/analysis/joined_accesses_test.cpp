// Tests which components of a vector are left as one access. nvcc 13's accesses are in its PTX; the
// end-to-end test on kernels/joined.cu compares.
#include "test/analysis/parsed.h"
#include "test/catch.h"

#include <fmt/format.h>

using warplens::analysis::AccessLeft;
using warplens::test::Parsed;

namespace {

const std::string vectors = "struct alignas(16) Four { float x, y, z, w; };\n"
                            "struct alignas(8) Two { int x, y; };\n"
                            "struct alignas(16) Array { float element[4]; };\n";

Parsed parsed(const std::string& kernel) {
  return Parsed(vectors + kernel);
}

/// Returns `alone`, `removed`, `part`, or the bytes of the access that begins with it.
std::string joined(Parsed& parsed, const std::string& text, std::size_t occurrence = 0) {
  const AccessLeft left = parsed.access_left(text, occurrence);
  if (left.is_left)
    return left.joined_bytes ? std::to_string(left.joined_bytes) : "alone";
  return left.joined_into ? "part" : "removed";
}

} // namespace

TEST_CASE("the components of a vector are one load", "[joined]") {
  Parsed p = parsed(R"(__global__ void k(const Four* a, float* out, int i) {
    out[i] = a[i].y + a[i].x + a[i].z * a[i].w;
  })");
  CHECK(joined(p, "a[i].x") == "16");
  for (const char* other : {"a[i].y", "a[i].z", "a[i].w"})
    CHECK(joined(p, other) == "part");
  CHECK(p.access_left("a[i].w").joined_into == p.access_left("a[i].y").joined_into);
}

TEST_CASE("a gap behind the first component is loaded along", "[joined]") {
  Parsed p = parsed(R"(
    __global__ void xz(const Four* a, float* out, int i) { out[i] = a[i].x + a[i].z; }
    __global__ void yz(const Four* b, float* out, int i) { out[i] = b[i].y + b[i].z; }
    __global__ void zw(const Four* c, float* out, int i) { out[i] = c[i].z + c[i].w; })");
  CHECK(joined(p, "a[i].x") == "16");
  CHECK(joined(p, "a[i].z") == "part");
  CHECK(joined(p, "b[i].y") == "alone");
  CHECK(joined(p, "b[i].z") == "alone");
  CHECK(joined(p, "c[i].z") == "8");
  CHECK(joined(p, "c[i].w") == "part");
}

TEST_CASE("a gap is not stored", "[joined]") {
  Parsed p = parsed("__global__ void k(Four* a, float v, int i) { a[i].x = v; a[i].y = v; a[i].w = v; }");
  CHECK(joined(p, "a[i].x") == "8");
  CHECK(joined(p, "a[i].y") == "part");
  CHECK(joined(p, "a[i].w") == "alone");
}

TEST_CASE("an update is joined by its load and by its store", "[joined]") {
  Parsed p = parsed(R"(
    __global__ void two(Two* a, int v, int i) { a[i].x += v; a[i].y += v; }
    __global__ void three(Four* b, float v, int i) { b[i].x += v; b[i].y += v; b[i].z += v; })");
  CHECK(joined(p, "a[i].x") == "8");
  CHECK(joined(p, "a[i].y") == "part");
  // nvcc makes ld.v4, st.v2 and st: the wider of the first two stands for both.
  CHECK(joined(p, "b[i].x") == "16");
  CHECK(joined(p, "b[i].y") == "part");
  CHECK(joined(p, "b[i].z") == "alone");
  CHECK(p.access_left("b[i].z").kind == warplens::AccessKind::store);
}

TEST_CASE("a store that may overwrite the next component keeps loads apart", "[joined]") {
  Parsed p = parsed(R"(
    __global__ void may(const Four* a, float* out, int i) { out[i] = a[i].x; out[i + 32] = a[i].y; }
    __global__ void cannot(const Four* __restrict__ b, float* __restrict__ out, int i) { out[i] = b[i].x; out[i + 32] = b[i].y; })");
  CHECK(joined(p, "a[i].x") == "alone");
  CHECK(joined(p, "a[i].y") == "alone");
  CHECK(joined(p, "b[i].x") == "8");
  CHECK(joined(p, "b[i].y") == "part");
}

TEST_CASE("accesses that are volatile, not aligned or in another branch stay apart", "[joined]") {
  Parsed p = parsed(R"(
    struct Loose { float x, y; };
    __global__ void k(const volatile Four* a, const Loose* b, const Four* c, const float* d, float* out, int i) {
      out[i] = a[i].x + a[i].y + b[i].x + b[i].y + d[2 * i] + d[2 * i + 1] + c[i].x;
      if (i > 3)
        out[i] += c[i].y;
    })");
  for (const char* one :
       {"a[i].x", "a[i].y", "b[i].x", "b[i].y", "c[i].x", "c[i].y", "d[2 * i]", "d[2 * i + 1]"}) {
    CAPTURE(one);
    CHECK(joined(p, one) == "alone");
  }
}

TEST_CASE("iterations of an unrolled loop are joined", "[joined]") {
  Parsed p = parsed(R"(__global__ void k(float* out, int i) {
    __shared__ __attribute__((aligned(16))) float tile[64];
    tile[i] = i;
    __syncwarp(~0u);
    float sum = 0;
    for (int j = 0; j < 8; ++j)
      sum += tile[j];
    out[i] = sum;
  })");
  CHECK(joined(p, "tile[j]") == "16");
  const auto iterations = p.access_left("tile[j]").iterations;
  REQUIRE(iterations.loops.size() == 1);
  CHECK(iterations.left == decltype(iterations.left){{0u}, {4u}});
}

TEST_CASE("in each iteration of an unrolled loop one vector is loaded", "[joined]") {
  Parsed p = parsed(R"(__global__ void k(const Four* a, float* out, int i) {
    float sum = 0;
    for (int j = 0; j < 4; ++j)
      sum += a[i + 32 * j].x * a[i + 32 * j].y + a[i + 32 * j].z * a[i + 32 * j].w;
    out[i] = sum;
  })");
  CHECK(joined(p, "a[i + 32 * j].x") == "16");
  CHECK(joined(p, "a[i + 32 * j].w") == "part");
}

TEST_CASE("an access that is joined in some copies only is counted part by part", "[joined]") {
  Parsed p = parsed(R"(
    template <class V> __global__ void k(const V* a, float* out, int i) { out[i] = a[i].x + a[i].y; }
    struct Loose { float x, y; };
    template __global__ void k<Four>(const Four*, float*, int);
    template __global__ void k<Loose>(const Loose*, float*, int);)");
  CHECK(joined(p, "a[i].x") == "alone");
  CHECK(joined(p, "a[i].y") == "alone");
}

TEST_CASE("a copy of a whole vector is as wide as its type", "[joined]") {
  Parsed p = parsed(R"(__global__ void k(const Four* a, Four* out, int i) {
    Four v = a[i];
    v.x += 1;
    out[i] = v;
  })");
  CHECK(joined(p, "a[i]") == "alone");
}

TEST_CASE("a component that is loaded under a condition stays apart, also if it is loaded speculatively",
          "[joined]") {
  Parsed p = parsed(R"(
    __device__ float f(const Four& v, bool c) {
      float sum = v.y;
      if (c)
        sum += v.x;
      return sum;
    }
    __global__ void k(const Four* a, float* out, int i, int n) { out[i] = f(a[i], i < n); })");
  CHECK(joined(p, "v.x") == "alone");
  CHECK(joined(p, "v.y") == "alone");
}

TEST_CASE("components that several functions load are joined", "[joined]") {
  Parsed p = parsed(R"(
    __device__ float first(const Four& v) { return v.x; }
    __device__ float second(const Four& w) { return w.y; }
    __global__ void k(const Four* a, float* out, int i) { out[i] = first(a[i]) + second(a[i]); })");
  CHECK(joined(p, "v.x") == "8");
  CHECK(joined(p, "w.y") == "part");
}
