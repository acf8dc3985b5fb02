#include "device_program.h"
#include "test/catch.h"

#include <numeric>

using namespace warplens;
using namespace warplens::test;

TEST_CASE("shuffles, in whole warps and in segments") {
  const DeviceProgram program(R"(
    __global__ void shuffles(int* out) {
      int t = threadIdx.x, lane = t % 32;
      out[t] = __shfl_sync(~0u, t, 3);
      out[64 + t] = __shfl_up_sync(~0u, t, 2);
      out[128 + t] = __shfl_down_sync(~0u, t, 1, 8);
      out[192 + t] = __shfl_xor_sync(~0u, t, 5);
      float sum = lane;
      for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
      out[256 + t] = __shfl_sync(~0u, (int)sum, 0);
    })");
  std::vector<int> out(320), traced(320);
  REQUIRE(program.run("shuffles", {1}, {64}, 0, out.data()).status == cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "shuffles", {1}, {64}, 0, traced.data()).status == cpu::BlockStatus::ok);
  CHECK(traced == out);
  for (int t = 0; t < 64; ++t) {
    const int lane = t % 32, warp = t - lane;
    CHECK(out[t] == warp + 3);
    CHECK(out[64 + t] == (lane < 2 ? t : t - 2));
    CHECK(out[128 + t] == (lane % 8 == 7 ? t : t + 1));
    CHECK(out[192 + t] == warp + (lane ^ 5));
    CHECK(out[256 + t] == 496);
  }
}

TEST_CASE("votes, matches, reductions and masks") {
  const DeviceProgram program(R"(
    __global__ void votes(unsigned* out) {
      unsigned t = threadIdx.x;
      unsigned r[10];
      r[0] = __ballot_sync(~0u, t % 3 == 0);
      r[1] = __any_sync(~0u, t == 5) + 2 * __all_sync(~0u, t < 40) + 4 * __all_sync(~0u, t < 9) + 8 * __any_sync(~0u, t > 50);
      r[2] = __match_any_sync(~0u, t / 4);
      int all;
      r[3] = __match_all_sync(~0u, t / 40, &all) + all;
      r[4] = __reduce_add_sync(~0u, t);
      r[5] = __reduce_max_sync(~0u, (int)t - 50);
      r[6] = t < 8 ? __activemask() : __activemask() + 1;
      r[7] = t % 2 ? __ballot_sync(0xaaaaaaaa, t > 10) : 0;
      r[8] = __syncthreads_count(t < 7) + 100 * __syncthreads_or(t == 3) + 200 * __syncthreads_and(t < 5);
      r[9] = __popc(__ballot_sync(__activemask(), 1));
      for (int i = 0; i < 10; ++i) out[i * 32 + t] = r[i];
    })");
  std::vector<unsigned> out(320), traced(320);
  const auto result = program.run("votes", {1}, {32}, 0, out.data());
  INFO(result.message);
  REQUIRE(result.status == cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "votes", {1}, {32}, 0, traced.data()).status == cpu::BlockStatus::ok);
  CHECK(out == traced);
  for (unsigned t = 0; t < 32; ++t) {
    CHECK(out[t] == 0x49249249);
    CHECK(out[32 + t] == 3);
    CHECK(out[64 + t] == 0xfU << (t / 4 * 4));
    CHECK(out[96 + t] == 0); // all 32 bits and 1
    CHECK(out[128 + t] == 496);
    CHECK(static_cast<int>(out[160 + t]) == -19);
    CHECK(out[192 + t] == (t < 8 ? 0xffU : 0xffffff01U));
    CHECK(out[224 + t] == (t % 2 ? 0xaaaaa800U : 0));
    CHECK(out[256 + t] == 107);
    CHECK(out[288 + t] == 32);
  }
}

TEST_CASE("converged lanes with masks of their own vote together, each by its own mask") {
  const DeviceProgram program(R"(
    __global__ void masks(unsigned* out) {
      unsigned t = threadIdx.x, before = (1u << t) - 1, upto = before | 1u << t;
      unsigned r[6];
      r[0] = __popc(__ballot_sync(before, t % 3 == 0)); // a scan by ballot, as programs write it
      r[1] = __popc(__ballot_sync(upto, t % 3 == 0));
      r[2] = __any_sync(upto, t == 4) + 2 * __all_sync(upto, t < 9);
      unsigned peers = __match_any_sync(~0u, t % 5);
      r[3] = __shfl_sync(peers, t, __ffs(peers) - 1);
      r[4] = __reduce_add_sync(peers, t);
      r[5] = 0;
      for (unsigned i = 0; i < 3 + t % 2; ++i) // lanes of one mask leave the loop before the others
        r[5] += __popc(__ballot_sync(t % 2 ? 0xaaaaaaaa : 0x55555555, t > i));
      for (int i = 0; i < 6; ++i) out[i * 32 + t] = r[i];
    })");
  std::vector<unsigned> out(192), traced(192);
  const auto result = program.run("masks", {1}, {32}, 0, out.data());
  INFO(result.message);
  REQUIRE(result.status == cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "masks", {1}, {32}, 0, traced.data()).status == cpu::BlockStatus::ok);
  CHECK(out == traced);
  for (unsigned t = 0; t < 32; ++t) {
    CHECK(out[t] == (t + 2) / 3);
    CHECK(out[32 + t] == t / 3 + 1);
    CHECK(out[64 + t] == (t >= 4 ? 1U : 0U) + (t < 9 ? 2U : 0U));
    CHECK(out[96 + t] == t % 5);
    const unsigned last = (31 - t % 5) / 5 * 5 + t % 5, peers = last / 5 + 1;
    CHECK(out[128 + t] == peers * (t % 5 + last) / 2);
    CHECK(out[160 + t] == (t % 2 ? 16 + 15 + 15 + 14 : 15 + 15 + 14));
  }
}

TEST_CASE("a partial last warp with full masks, and lanes that have left") {
  const DeviceProgram program(R"(
    __global__ void partial(int* out) {
      int t = threadIdx.x;
      if (t >= 36 && t < 38) return;
      int sum = 1;
      for (int offset = 16; offset; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
      out[t] = sum + 1000 * __popc(__ballot_sync(~0u, 1));
    })");
  std::vector<int> out(40, -1);
  REQUIRE(program.run("partial", {1}, {40}, 0, out.data()).status == cpu::BlockStatus::ok);
  for (int t = 0; t < 32; ++t)
    CHECK(out[t] == 32032);
  for (int t = 32; t < 40; ++t)
    CHECK(out[t] / 1000 == (t == 36 || t == 37 ? 0 : 6));
}

TEST_CASE(
    "an operation that cannot complete is a deadlock, reported with block and lines; trap ends the kernel") {
  const DeviceProgram program(R"(
    __global__ void stuck() { if (threadIdx.x < 32) __syncthreads(); else __syncwarp(threadIdx.x == 40 ? 0x300 : 0x100 << 0); }
    __global__ void split() { if (threadIdx.x == 3) __syncwarp(0xff); else if (threadIdx.x < 8) __syncthreads(); }
    __global__ void broken(int* out) { out[threadIdx.x] = 1; if (threadIdx.x == 2 && blockIdx.x == 1) __trap(); }
    __global__ void broken_later(int* out) { __syncthreads(); out[threadIdx.x] = 1; if (threadIdx.x == 2) __trap(); })");
  const auto split = program.run("split", {1}, {32}, 0);
  CHECK(split.status == cpu::BlockStatus::deadlocked);
  const auto says = [](const cpu::GridResult& result, const std::string& text) {
    INFO(result.message);
    CHECK(result.message.find(text) != std::string::npos);
  };
  says(split, "block (0, 0, 0): deadlock: 7 threads of warp 0 wait at ");
  says(split, "program.cu:4, for the rest of the block; 1 thread of warp 0 waits at ");
  says(split, "for lanes 0x000000f7 of its warp");
  std::vector<int> out(32);
  const auto broken = program.run("broken", {2}, {32}, 0, out.data());
  CHECK(broken.status == cpu::BlockStatus::failed);
  says(broken, "block (1, 0, 0): thread (2, 0, 0) executed trap at ");
  says(broken, "program.cu:5");
  CHECK(program.run("broken_later", {2}, {32}, 0, out.data()).status == cpu::BlockStatus::failed);
}
