// Kernels with barriers run untraced as loops from one barrier to the next (lowering/regions.h). The results
// are compared with the same kernel traced, where each thread has a stack of its own.
#include "device_program.h"
#include "test/catch.h"

#include <vector>

using namespace warplens;
using namespace warplens::test;

namespace {

/// Runs the kernel with two blocks in both variants; each thread stores words in `out`.
void check_variants_agree(const char* body, trace::Dim3 block = {64}, int argument = 0) {
  const DeviceProgram program(std::string(R"(
    struct Pair { int x, y; };
    __global__ void kernel(unsigned* out, int n, Pair pair) {
      __shared__ unsigned shared[256];
      int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      int all = blockDim.x * blockDim.y * blockDim.z;
      out += (blockIdx.x * all + t) * 4;
      )") + body + "}");
  REQUIRE(program.kernel("kernel").untraced_block != nullptr);
  CHECK(program.kernel("kernel").untraced_lane == nullptr);
  struct {
    int x = 3, y = 5;
  } pair;
  const std::size_t words = 2 * block.count() * 4;
  std::vector<unsigned> in_loops(words), in_lanes(words);
  REQUIRE(program.run("kernel", {2}, block, 0, in_loops.data(), argument, pair).status ==
          cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  REQUIRE(program.trace(seen, "kernel", {2}, block, 0, in_lanes.data(), argument, pair).status ==
          cpu::BlockStatus::ok);
  CHECK(in_loops == in_lanes);
  CHECK(in_lanes != std::vector<unsigned>(words));
}

} // namespace

TEST_CASE("values that live across barriers, in a loop and behind it") {
  check_variants_agree(R"(
    unsigned sum = t * 7, before = out[1] + t, half = t / 2;
    for (int i = 0; i < 5 + n; ++i) {
      shared[t] = sum + i;
      __syncthreads();
      sum += shared[(t + i + half) % all];
      __syncthreads();
    }
    out[0] = sum; out[1] = before; out[2] = half + pair.x * sum; out[3] = pair.y;)");
}

TEST_CASE("blocks of three dimensions, barriers at the begin and at the end") {
  check_variants_agree(R"(
    __syncthreads();
    shared[t] = threadIdx.x * 100 + threadIdx.y * 10 + threadIdx.z;
    __syncthreads();
    out[0] = shared[all - 1 - t]; out[1] = threadIdx.x; out[2] = threadIdx.y; out[3] = threadIdx.z + blockIdx.x;
    __syncthreads();)",
                       {5, 3, 4});
}

TEST_CASE("threads that end before a barrier, and in a loop of barriers") {
  check_variants_agree(R"(
    shared[t] = t + 1;
    if (t > 50) { out[3] = 1; return; }
    for (int i = 0; i < 10; ++i) {
      __syncthreads();
      if (t == 4 * i) { out[2] = i + 1; return; }
      unsigned next = shared[(t + 1) % all];
      __syncthreads();
      shared[t] += next * (i + 1);
      out[0] = shared[t];
    })",
                       {64});
}

TEST_CASE("threads that wait at different barriers meet as on a GPU, where each counts all") {
  check_variants_agree(R"(
    unsigned mine = 0;
    shared[t] = t;
    if (t % 2) {
      __syncthreads();
      mine = shared[t - 1] + 1000;
      __syncthreads();
    } else {
      __syncthreads();
      mine = shared[t + 1] + 2000;
      if (t % 4 == 0)
        mine += 7;
      __syncthreads();
    }
    shared[t] = mine;
    __syncthreads();
    out[0] = mine; out[1] = shared[(t + 3) % all];)");
}

TEST_CASE("loops of barriers that threads leave at different times") {
  check_variants_agree(R"(
    unsigned count = 0, passages = 1 + t % 3;
    shared[t] = 0;
    for (unsigned i = 0; i < passages; ++i) {
      shared[t] += i + 1;
      __syncthreads();
      ++count;
    }
    out[0] = count; out[1] = shared[t]; out[2] = passages;)");
}

TEST_CASE("local arrays, structs, small types and several values of one loop keep what they hold") {
  check_variants_agree(R"(
    unsigned char bytes[8];
    double precise = t;
    bool odd = t % 2;
    Pair own = pair;
    for (int i = 0; i < 8; ++i)
      bytes[i] = t + i;
    for (int i = 0; i < 6 + n; ++i) {
      shared[t] = bytes[(i + t) % 8];
      own.x += i;
      __syncthreads();
      bytes[(2 * i + t) % 8] ^= shared[(t + 5) % all];
      precise = precise * 1.5 + (odd ? own.x : own.y);
      odd = shared[(t + 1) % all] & 1;
      __syncthreads();
    }
    out[0] = bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
    out[1] = bytes[4] << 24 | bytes[5] << 16 | bytes[6] << 8 | bytes[7];
    out[2] = (unsigned)(long long)precise; out[3] = odd * 1000 + own.x;)");
}

TEST_CASE("barriers in nested loops and under conditions that hold for the whole block") {
  check_variants_agree(R"(
    unsigned sum = t;
    for (int i = 0; i < 3; ++i) {
      if (i + n > 0) {
        shared[t] = sum;
        __syncthreads();
        sum += shared[(t + 7) % all];
      }
      for (int j = 0; j <= i; ++j) {
        __syncthreads();
        shared[t] = sum * (j + 1);
        __syncthreads();
        sum ^= shared[(t * 3) % all];
      }
      __syncthreads();
      if (i == 1) continue;
      sum += 1;
    }
    out[0] = sum;)");
}

TEST_CASE("a struct that threads change for themselves needs stacks") {
  const DeviceProgram program(R"(
    struct Pair { int x[8]; };
    __global__ void kernel(int* out, Pair pair) {
      pair.x[threadIdx.x % 8] += threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = pair.x[(threadIdx.x + 1) % 8] + pair.x[threadIdx.x % 8];
    })");
  struct {
    int x[8] = {10, 20, 30, 40, 50, 60, 70, 80};
  } pair;
  std::vector<int> out(64);
  REQUIRE(program.run("kernel", {1}, {64}, 0, out.data(), pair).status == cpu::BlockStatus::ok);
  for (int t = 0; t < 64; ++t)
    CHECK(out[static_cast<std::size_t>(t)] == pair.x[(t + 1) % 8] + pair.x[t % 8] + t);
}

TEST_CASE("a thread that traps behind a barrier is named") {
  const DeviceProgram program(R"(
    __global__ void kernel(int* out) {
      __shared__ int values[64];
      values[threadIdx.x] = out[threadIdx.x];
      __syncthreads();
      if (values[(threadIdx.x + 1) % 64] == 7)
        asm("trap;");
      out[threadIdx.x] = 1;
    })");
  REQUIRE(program.kernel("kernel").untraced_block != nullptr);
  std::vector<int> out(64);
  out[38] = 7;
  const auto result = program.run("kernel", {1}, {64}, 0, out.data());
  CHECK(result.status == cpu::BlockStatus::failed);
  CHECK(result.message.find("thread (37, 0, 0) executed trap") != std::string::npos);
}

TEST_CASE("a probe before a barrier records each warp's lanes, and leaves untraced code as loops") {
  const DeviceProgram program(R"(
    __global__ void kernel(unsigned* out) {
      __shared__ unsigned shared[80];
      const unsigned t = threadIdx.x;
      if (t >= 72)
        return;
      *warplens::store(1, &shared[t]) = t;
      (warplens::barrier(2), __syncthreads());
      for (int i = 0; i < 3; ++i)
        (warplens::barrier(3), __syncthreads());
      *warplens::store(4, &out[t]) = shared[71 - t];
    })");
  REQUIRE(program.kernel("kernel").untraced_block != nullptr);
  std::vector<unsigned> in_loops(72), in_lanes(72), expected;
  for (unsigned t = 0; t < 72; ++t)
    expected.push_back(71 - t);
  REQUIRE(program.run("kernel", {1}, {80}, 0, in_loops.data()).status == cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  const auto result = program.trace(seen, "kernel", {1}, {80}, 0, in_lanes.data());
  REQUIRE(result.status == cpu::BlockStatus::ok);
  CHECK(in_loops == expected);
  CHECK(in_lanes == expected);
  CHECK(result.executed_accesses == result.probed_accesses + 72); // the load of shared[71 - t] has no probe
  for (const std::uint32_t warp : {0u, 1u, 2u}) {
    std::vector<std::uint64_t> sites;
    for (const Seen& one : seen)
      if (one.warp == warp) {
        sites.push_back(one.line.site);
        CHECK(one.line.active == (warp == 2 ? 0xffu : ~0u));
        CHECK((AccessKind(one.line.kind) == AccessKind::barrier) == (one.line.bytes == 0));
      }
    CHECK(sites == std::vector<std::uint64_t>{1, 2, 3, 3, 3, 4});
  }
}
