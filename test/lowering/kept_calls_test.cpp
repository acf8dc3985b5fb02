// A function that would grow too large keeps callees as calls (lowering/inlining.cpp). The reference is the
// same kernel with everything inlined: results and logs must agree.
#include "device_program.h"
#include "test/catch.h"

#include <numeric>
#include <tuple>

using namespace warplens;
using namespace warplens::test;

namespace {

const lowering::Output keep_calls{.limits = {.inlined = 1}};

/// Two levels of functions with divergent accesses, called in loops and behind each other; locals whose
/// address they take; special registers and the block's own numbers within them.
constexpr char nested_calls[] = R"(
  #define PROBE(site, p) (*warplens::load(site, p))
  __device__ int leaf(int* p, int n, int* sum) {
    int t = threadIdx.x, s = 0;
    for (int i = 0; i < n + t % 3; ++i) {
      s += PROBE(1, p + t);
      if ((t + i) % 2) s ^= PROBE(2, p + t + 1);
    }
    *sum += s;
    if (t % 5 == 0) return s;
    return s * PROBE(3, p + blockDim.x - 1 - t);
  }
  __device__ int empty(int a, int b) { return a * 31 + b; }
  __device__ int middle(int* p, int n) {
    int sum = 0;
    int s = leaf(p, n, &sum);
    if (threadIdx.x & 4) s += PROBE(4, p + (threadIdx.x ^ 1));
    s = empty(s, leaf(p + 1, n + 1, &sum));
    return s - sum;
  }
  __global__ void kernel(int* p, int* out, int n) {
    int t = threadIdx.x, s = 0;
    for (int i = 0; i < n; ++i) {
      s += middle(p, i);
      if (t % 7 == 0) continue;
      s ^= middle(p + 2, 1);
    }
    s += PROBE(5, p + t);
    if (t >= 16) s += middle(p, 2);
    out[blockIdx.x * blockDim.x + t] = s;
  })";

using Issue =
    std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t, std::vector<std::uint64_t>>;

struct Ran {
  std::vector<int> untraced, traced;
  std::vector<Issue> issued;
  std::uint64_t executed, probed;
};

Ran run(const DeviceProgram& program) {
  constexpr unsigned threads = 64, blocks = 2;
  std::vector<int> memory(threads + 16);
  std::iota(memory.begin(), memory.end(), 3);
  Ran ran{std::vector<int>(threads * blocks), std::vector<int>(threads * blocks), {}, 0, 0};
  REQUIRE(program.run("kernel", {blocks}, {threads}, 0, memory.data(), ran.untraced.data(), 3).status ==
          cpu::BlockStatus::ok);
  std::vector<Seen> seen;
  const auto result =
      program.trace(seen, "kernel", {blocks}, {threads}, 0, memory.data(), ran.traced.data(), 3);
  REQUIRE(result.status == cpu::BlockStatus::ok);
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned warp = 0; warp < threads / 32; ++warp)
      for (const Seen& one : seen)
        if (one.block == block && one.warp == warp) {
          std::vector<std::uint64_t> offsets;
          for (unsigned lane = 0; lane < 32; ++lane)
            if (one.line.active >> lane & 1)
              offsets.push_back(one.line.addresses[lane] - reinterpret_cast<std::uint64_t>(memory.data()));
          ran.issued.push_back({block, warp, one.line.site, one.line.active, offsets});
        }
  ran.executed = result.executed_accesses;
  ran.probed = result.probed_accesses;
  return ran;
}

} // namespace

TEST_CASE("functions that stay calls compute and log the same as inlined ones") {
  const DeviceProgram inlined(nested_calls), kept(nested_calls, keep_calls);
  const Ran expected = run(inlined), ran = run(kept);
  CHECK(ran.untraced == expected.untraced);
  CHECK(ran.traced == expected.traced);
  CHECK(ran.untraced == ran.traced);
  CHECK(ran.issued == expected.issued);
  CHECK(expected.issued.size() > 100);
  // `leaf` does not know that `sum` is a local, nor what its callers have loaded already.
  CHECK(ran.probed >= expected.probed);
  CHECK(ran.executed >= expected.executed);
  // No lane waits in them, so blocks still run as loops.
  CHECK(kept.kernel("kernel").untraced_block != nullptr);
  CHECK(kept.kernel("kernel").key_count == inlined.kernel("kernel").key_count);
  CHECK(kept.kernel("kernel").stack_bytes > inlined.kernel("kernel").stack_bytes);
}

TEST_CASE(
    "functions in which lanes may wait, or that use shared variables, are inlined however large they are") {
  const DeviceProgram program(R"(
    __shared__ int tile[64];
    __device__ int exchange(int v) {
      tile[threadIdx.x] = v;
      __syncthreads();
      return tile[threadIdx.x ^ 1];
    }
    __device__ int own(int v) { return tile[threadIdx.x] * v; }
    __device__ int shuffle(int v) { return __shfl_xor_sync(~0u, v, 2); }
    __global__ void kernel(int*, int* out, int n) {
      int t = threadIdx.x;
      out[blockIdx.x * blockDim.x + t] = shuffle(exchange(t * n)) + own(2);
    })",
                              keep_calls);
  const Ran ran = run(program);
  std::vector<int> expected;
  for (int block = 0; block < 2; ++block)
    for (int t = 0; t < 64; ++t)
      expected.push_back(3 * (t ^ 2 ^ 1) + 3 * t * 2);
  CHECK(ran.untraced == expected);
  CHECK(ran.traced == expected);
}

TEST_CASE("a large loop that waits for another thread sees that thread's stores") {
  const DeviceProgram program(R"(
    __device__ int wait_for(int* flag) {
      int seen;
      while ((seen = atomicAdd(flag, 0)) == 0) {}
      return seen;
    }
    __global__ void kernel(int* p, int* out, int n) {
      int t = threadIdx.x;
      if (t == 63) atomicExch(p + blockIdx.x, n);
      out[blockIdx.x * blockDim.x + t] = wait_for(p + blockIdx.x) + wait_for(p + blockIdx.x);
    })",
                              keep_calls);
  std::vector<int> memory(2), out(128);
  REQUIRE(program.run("kernel", {2}, {64}, 0, memory.data(), out.data(), 4).status == cpu::BlockStatus::ok);
  CHECK(out == std::vector<int>(128, 8));
}

TEST_CASE("many calls within many calls take the compiler no longer than a few") {
  // 8 calls in each of 6 levels: 262144 copies of `round0`.
  std::string source = R"(
    __device__ unsigned round0(const unsigned* p, unsigned v) {
      return (v << 7 | v >> 25) * 0x9e3779b1u + *warplens::load(1, p + (v & 15)) + (v & 3 ? v >> 9 : 0);
    })";
  for (int level = 1; level <= 6; ++level) {
    source += fmt::format("\n__device__ unsigned round{}(const unsigned* p, unsigned v) {{\n", level);
    for (int call = 0; call < 8; ++call)
      source += fmt::format("v = round{}(p, v + {});\n", level - 1, call * level);
    source += "return v;\n}";
  }
  source += "\n__global__ void kernel(const unsigned* p, unsigned* out) { out[threadIdx.x] = round6(p, "
            "threadIdx.x); }";
  const DeviceProgram program(source);
  std::vector<unsigned> memory(16), out(2);
  std::iota(memory.begin(), memory.end(), 1);
  REQUIRE(program.run("kernel", {1}, {2}, 0, memory.data(), out.data()).status == cpu::BlockStatus::ok);
  const auto reference = [&](const auto& self, int level, unsigned v) -> unsigned {
    if (level == 0)
      return (v << 7 | v >> 25) * 0x9e3779b1u + memory[v & 15] + (v & 3 ? v >> 9 : 0);
    for (unsigned call = 0; call < 8; ++call)
      v = self(self, level - 1, v + call * static_cast<unsigned>(level));
    return v;
  };
  CHECK(out == std::vector<unsigned>{reference(reference, 6, 0), reference(reference, 6, 1)});
  std::vector<Seen> seen;
  const auto traced = program.trace(seen, "kernel", {1}, {2}, 0, memory.data(), out.data());
  CHECK(traced.probed_accesses == 2 * 262144);
}

TEST_CASE("more accesses than keys are refused") {
  std::string source = R"(#include <warplens/probe.h>
    __device__ int call0(const int* p, int v) {
      for (int i = 0; i < v; ++i) v = *warplens::load(1, p + v) ^ *warplens::load(2, p + v * i);
      return v;
    })";
  for (int level = 1; level <= 8; ++level)
    source += fmt::format(
        "\n__device__ int call{0}(const int* p, int v) {{ v = call{1}(p, v); v = call{1}(p, v + 1);"
        " v = call{1}(p, v); v = call{1}(p, v ^ 2); v = call{1}(p, v); v = call{1}(p, v);"
        " v = call{1}(p, v); return call{1}(p, v); }}",
        level, level - 1);
  source += "\n__global__ void kernel(const int* p, int* out) { *out = call8(p, 1); }";
  const auto folder = TemporaryDirectory::create();
  REQUIRE(folder);
  const auto lowered = compile_and_lower(source, folder->path(), folder->path() / "program.o");
  REQUIRE(!lowered);
  CHECK(lowered.error().message.find("program.cu:") != std::string::npos);
  CHECK(lowered.error().message.find("more than 4194304 accesses") != std::string::npos);
}
