// Threads' stacks, which lie side by side without guard pages: a thread that needs more than its stack is
// reported before it writes to another's.
#include "device_program.h"
#include "runtime/cpu/execution/fiber.h"
#include "test/catch.h"

#include <fstream>
#include <string>
#include <vector>

using namespace warplens;
using namespace warplens::test;

namespace {

/// A kernel whose threads recur to the depths in `depths`, with 256 bytes in each call, while the others wait
/// in the same.
constexpr char deep[] = R"(
  __device__ int descend(volatile int* seen, int depth) {
    volatile int here[64];
    here[depth & 63] = depth;
    __syncwarp(1u << (threadIdx.x % 32));
    return depth == 0 ? seen[0] : descend(seen, depth - 1) + (here[depth & 63] == depth);
  }
  __global__ void kernel(int* out, int* seen, const int* depths) {
    int sum = descend(seen, depths[threadIdx.x]);
    __syncwarp();
    out[threadIdx.x] = sum;
  })";

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);)
    ++lines;
  return lines;
}

} // namespace

TEST_CASE("threads recur each on its own stack") {
  const DeviceProgram program(deep);
  std::vector<int> out(64), depths(64);
  for (int t = 0; t < 64; ++t)
    depths[static_cast<std::size_t>(t)] = t * 20;
  int seen = 0;
  for (const bool traced : {false, true}) {
    std::vector<Seen> accesses;
    const auto result =
        traced ? program.trace(accesses, "kernel", {1}, {64}, 0, out.data(), &seen, depths.data())
               : program.run("kernel", {1}, {64}, 0, out.data(), &seen, depths.data());
    INFO(result.message);
    REQUIRE(result.status == cpu::BlockStatus::ok);
    CHECK(out == depths);
  }
}

TEST_CASE("a recursion that is too deep for its thread's stack is reported, wherever it would have written") {
  const DeviceProgram program(deep);
  for (const int depth : {4500, 10000, 200000}) { // past its own stack, past the next, past them all
    std::vector<int> out(64), depths(64, 3);
    depths[37] = depth;
    int seen = 0;
    const auto result = program.run("kernel", {1}, {64}, 0, out.data(), &seen, depths.data());
    CHECK(result.status == cpu::BlockStatus::faulted);
    CHECK(result.message.find("thread (37, 0, 0) has more on its stack than fits") != std::string::npos);
  }
}

TEST_CASE("memory taken on the stack as the kernel runs must fit, too") {
  const DeviceProgram program(R"(
    __global__ void kernel(int* out, unsigned long long bytes) {
      auto* own = static_cast<volatile int*>(__builtin_alloca(bytes));
      own[bytes / 4 - 1] = threadIdx.x;
      own[0] = threadIdx.x;
      __syncwarp();
      out[threadIdx.x] = own[0] + own[bytes / 4 - 1];
    })");
  std::vector<int> out(32);
  REQUIRE(program.run("kernel", {1}, {32}, 0, out.data(), 100000ULL).status == cpu::BlockStatus::ok);
  for (int t = 0; t < 32; ++t)
    CHECK(out[static_cast<std::size_t>(t)] == 2 * t);
  for (const unsigned long long bytes : {1ULL << 21, 1ULL << 40, ~0ULL - 63}) {
    const auto result = program.run("kernel", {1}, {32}, 0, out.data(), bytes);
    CHECK(result.status == cpu::BlockStatus::faulted);
    CHECK(result.message.find("more on its stack than fits") != std::string::npos);
  }
}

TEST_CASE("a thousand stacks cost two mappings, and are distinguished by address") {
  const std::size_t before = mappings();
  cpu::StackPool stacks;
  stacks.reserve(1024, 64 * 1024);
  CHECK(mappings() <= before + 2);
  for (std::size_t i = 0; i < 1024; ++i) {
    const auto top = reinterpret_cast<std::uint64_t>(stacks.top(i));
    const auto bottom = top - stacks.usable_bytes();
    CHECK(stacks.contains(bottom));
    CHECK(stacks.place_of(top - 1).index == i);
    CHECK(stacks.place_of(bottom).index == i);
    CHECK(stacks.place_of(bottom).depth == stacks.usable_bytes());
    CHECK(!stacks.guards(bottom));
  }
  const auto lowest = reinterpret_cast<std::uint64_t>(stacks.top(0)) - stacks.stride();
  CHECK(stacks.guards(lowest - 1));
  CHECK(!stacks.guards(lowest));
}
