// The rules of ptxas that analysis/atomics.h lists.
#include "test/analysis/parsed.h"
#include "test/catch.h"

using warplens::LaneAggregation;
using warplens::test::Parsed;

namespace {

/// Returns what becomes of the atomic `text` in a kernel with this body.
warplens::analysis::AtomicCode atomic(const std::string& body, const std::string& pointer) {
  Parsed parsed("__global__ void k(int* c, unsigned* u, float* f, const int* x, int* o, int v) {\n"
                "  __shared__ int s[64];\n" +
                body + "\n}");
  return parsed.access_left(pointer).atomic;
}

LaneAggregation aggregation(const std::string& body, const std::string& pointer = "c") {
  return atomic(body, pointer).aggregation;
}

} // namespace

TEST_CASE("additions of a uniform value at a uniform address are one for the warp", "[atomics]") {
  CHECK(aggregation("atomicAdd(c, 1);") == LaneAggregation::added);
  CHECK(aggregation("atomicAdd(c, v);") == LaneAggregation::added);
  CHECK(aggregation("atomicAdd(c + __nvvm_read_ptx_sreg_ctaid_x(), 1);",
                    "c + __nvvm_read_ptx_sreg_ctaid_x()") == LaneAggregation::added);
  CHECK(aggregation("atomicAdd(c + x[__nvvm_read_ptx_sreg_ctaid_x()], 1);",
                    "c + x[__nvvm_read_ptx_sreg_ctaid_x()]") == LaneAggregation::added);
  CHECK(aggregation("if (x[threadIdx_x] > 3) atomicAdd(c, 1);") == LaneAggregation::added);
  CHECK(aggregation("o[threadIdx_x] = atomicAdd(c, 1);") == LaneAggregation::added);
  CHECK(aggregation("for (int i = 0; i < v; ++i) atomicAdd(c + i, 1);", "c + i") == LaneAggregation::added);
}

TEST_CASE("atomics at addresses that differ by lane are not aggregated", "[atomics]") {
  CHECK(aggregation("atomicAdd(c + threadIdx_x / 32, v);", "c + threadIdx_x / 32") == LaneAggregation::none);
  CHECK(aggregation("atomicAdd(c + __nvvm_read_ptx_sreg_tid_y(), v);", "c + __nvvm_read_ptx_sreg_tid_y()") ==
        LaneAggregation::none);
  CHECK(aggregation("int n = x[threadIdx_x]; for (int i = 0; i < n; ++i) atomicAdd(c + i, v);", "c + i") ==
        LaneAggregation::none);
  CHECK(aggregation("int* p = c; if (x[threadIdx_x] > 3) p = o; atomicAdd(p, v);", "p") ==
        LaneAggregation::none);
}

TEST_CASE("additions of other values to one word are reduced, of 1 in shared memory counted", "[atomics]") {
  CHECK(aggregation("atomicAdd(c, threadIdx_x);") == LaneAggregation::reduced);
  CHECK(aggregation("o[0] = atomicAdd(c, threadIdx_x);") == LaneAggregation::none);
  CHECK(aggregation("atomicAdd(&s[x[threadIdx_x]], 1);", "&s[x[threadIdx_x]]") == LaneAggregation::counted);
  CHECK(aggregation("atomicAdd(&s[x[threadIdx_x]], 2);", "&s[x[threadIdx_x]]") == LaneAggregation::none);
  CHECK(aggregation("o[0] = atomicAdd(&s[x[threadIdx_x]], 1);", "&s[x[threadIdx_x]]") ==
        LaneAggregation::none);
}

TEST_CASE("an atomic whose result nothing uses is a reduction", "[atomics]") {
  CHECK(atomic("atomicAdd(c, 1);", "c").is_reduction);
  CHECK_FALSE(atomic("o[0] = atomicAdd(c, 1);", "c").is_reduction);
  CHECK_FALSE(atomic("if (atomicAdd(c, 1) == v) o[0] = 1;", "c").is_reduction);
  CHECK(atomic("int r = atomicAdd(c, 1); r += 2;", "c").is_reduction);
}
