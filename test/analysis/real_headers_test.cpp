// Tests the analyses with NVIDIA's own headers, in which the intrinsics of the small tests are inline
// functions.
#include "test/analysis/parsed.h"
#include "test/catch.h"

using warplens::Space;
using warplens::test::Parsed;

TEST_CASE("a kernel with the toolkit's headers", "[toolkit]") {
  const auto scratch = warplens::TemporaryDirectory::create().value();
  Parsed parsed(R"(#include <cooperative_groups.h>
  namespace cg = cooperative_groups;
  __global__ void k(const float4* r, float4* q, const float* a, float* out, int* counter, int n) {
    __shared__ float tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = __ldg(a + i);
    __syncthreads();
    out[i] = tile[63 - threadIdx.x] * sinf(a[i]) + a[i];
    cg::this_thread_block().sync();
    atomicAdd(counter + 1, 1);
    q[i] = r[i];
    __ldg(a + 7);
    float4 v = make_float4(a[0], a[1], a[2], a[3]);
    q[n] = v;
  }
  void launch(float4* q, float* out, int* counter) { counter[1] = 2; k<<<1, 64>>>(q, q, out, out, counter, 3); })",
                warplens::test::toolkit_arguments(scratch.path()), false);
  CHECK(parsed.space("a + i") == Space::global);
  CHECK(parsed.space("tile[threadIdx.x]") == Space::shared);
  CHECK(parsed.space("counter + 1") == Space::global);
  CHECK(parsed.space("q[n]") == Space::global);
  CHECK(parsed.sequence("a + i") == 0);
  CHECK(parsed.sequence("out[i]") == 1);
  CHECK(parsed.sequence("q[i]") == 2);
  for (const char* stays : {"a + i", "tile[threadIdx.x]", "tile[63 - threadIdx.x]", "out[i]", "counter + 1",
                            "q[i]", "r[i]", "a[0]", "a[1]", "a[2]", "a[3]", "q[n]"}) {
    INFO(stays);
    CHECK(parsed.fate(stays) == "stays");
  }
  CHECK(parsed.fate("a[i]", 0) == "stays");
  CHECK(parsed.fate("a[i]", 1) == "removed"); // libdevice's sinf touches no memory
}
