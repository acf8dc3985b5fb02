// Which part of a GPU each of several kernels has, and the instances of MIG.
#include "model/arrangement.h"
#include "model/gpu/mig.h"
#include "test/catch.h"
#include "test/model/made_trace.h"

using namespace warplens;
using namespace warplens::model;
using namespace warplens::test;

namespace {

/// Blocks of 256 and of 128 threads, without registers and shared memory.
const std::vector<SmShare> two_kernels{{8, 1, 0, 0}, {4, 1, 0, 0}};

std::string error_of(const Arrangement& arrangement, const std::string& name = "a100") {
  const auto places = arrange(arrangement, two_kernels, gpu(name));
  REQUIRE_FALSE(places);
  return places.error().message;
}

Places placed(const Arrangement& arrangement, const std::string& name = "a100") {
  auto places = arrange(arrangement, two_kernels, gpu(name));
  REQUIRE(places);
  return std::move(*places);
}

} // namespace

TEST_CASE("SMs of their own, by percent") {
  const Places halves = placed({.division = Division::sms});
  CHECK(halves.kernels[0].first_sm == 0);
  CHECK(halves.kernels[0].sms == 54);
  CHECK(halves.kernels[1].first_sm == 54);
  CHECK(halves.kernels[1].sms == 54);
  const Places quarter = placed({.division = Division::sms, .shares = {25, 75}});
  CHECK(quarter.kernels[1].first_sm == 27);
  CHECK(quarter.kernels[1].sms == 81);
  CHECK(error_of({.division = Division::sms, .shares = {25}}) == "1 shares for 2 kernels");
  CHECK(error_of({.division = Division::sms, .shares = {0, 100}}) == "0 is no percentage of the SMs above 0");
}

TEST_CASE("Policies choose the division, and what the machine has") {
  const Places inter = placed({.policy = Policy::inter});
  CHECK(inter.division == Division::sms);
  CHECK_FALSE(inter.what_if.is_any());
  const Places intra = placed({.policy = Policy::intra}); // an SM of 64 warps and 32 blocks
  CHECK(intra.division == Division::blocks);
  CHECK(intra.kernels[0].max_per_sm == 4);
  CHECK(intra.kernels[1].max_per_sm == 8);
  CHECK((intra.what_if.kernels_in_turn && !intra.what_if.own_queues));
  const Places full = placed({.policy = Policy::icmt_max});
  CHECK(full.kernels[0].max_per_sm * 8 + full.kernels[1].max_per_sm * 4 == 64);
  const Places even = placed({.policy = Policy::icmt_even, .what_if = {.front_end = 2}});
  CHECK(even.kernels[0].max_per_sm == 4);
  CHECK(even.kernels[1].max_per_sm == 8);
  CHECK((even.what_if.kernels_in_turn && even.what_if.own_queues && even.what_if.front_end == 2));
}

TEST_CASE("Shares that exceed the GPU, or that nothing reads, are refused") {
  CHECK(error_of({.division = Division::sms, .shares = {50, 60}}) ==
        "110 % are more than all SMs: each kernel has SMs of its own");
  CHECK(placed({.division = Division::sms, .shares = {33.3334, 66.6667}}).kernels[1].sms == 72);
  CHECK(error_of({.division = Division::blocks, .shares = {6, 9}}) ==
        "6 and 9 blocks on an SM take 84 warps, and an SM of a100 has 64");
  CHECK(error_of({.shares = {50, 50}}).find("--split: streams") == 0);
  CHECK(error_of({.shares = {1, 7}, .policy = Policy::icmt_even}).find("--split: policies") == 0);
}

TEST_CASE("Blocks without room beside each other") {
  const std::vector<SmShare> large{{40, 1, 0, 0}, {40, 1, 0, 0}};
  const Gpu a100 = gpu("a100");
  CHECK(arrange({.policy = Policy::icmt_even}, large, a100).error().message ==
        "an SM of a100 has no room for a block of both kernels");
  const std::vector<SmShare> more_than_half{{40, 1, 0, 0}, {4, 1, 0, 0}};
  CHECK(arrange({.policy = Policy::intra}, more_than_half, a100).error().message ==
        "an SM of a100 has no room for a block of both kernels in which neither has more than half of the "
        "warps");
  const std::vector<SmShare> three(3, SmShare{8, 1, 0, 0});
  CHECK(arrange({.policy = Policy::inter}, three, a100).error().message ==
        "a policy is for two kernels, and there are 3");
}

TEST_CASE("Instances of MIG") {
  const Places alike = placed({.division = Division::mig});
  CHECK(alike.instances[0].slices == 3); // two of four would be eight slices
  CHECK(alike.kernels[0].sms == 42);
  const Places both = placed({.division = Division::mig, .shares = {4, 3}});
  CHECK(both.kernels[0].sms == 56);
  CHECK(both.instances[0].memory_eighths + both.instances[1].memory_eighths == 8);
  CHECK(error_of({.division = Division::mig, .shares = {4, 4}}) ==
        "the instances have 8 slices and 8 eighths of the memory together; a100 has 7 and 8");
  CHECK(error_of({.division = Division::mig, .shares = {5, 1}}) ==
        "a100 has no instance of 5 slices, but of 1, 2, 3, 4, 7");
  CHECK(error_of({.division = Division::mig}, "v100").find("MIG does not divide it") != std::string::npos);
}

TEST_CASE("An instance as a GPU") {
  const Gpu a100 = gpu("a100");
  const Gpu half = part_of(a100, *instance_of(a100, 3));
  CHECK(half.sms == 42);
  CHECK(half.l2_bytes == a100.l2_bytes / 2);
  CHECK(half.l2.slices == 40);
  CHECK(half.l2.partitions == 1);
  CHECK(half.dram.channels == 20);
  CHECK(half.dram.bytes_per_ns() == Approx(a100.dram.bytes_per_ns() / 2));
  CHECK(half.l2.bytes_per_ns == Approx(a100.l2.bytes_per_ns / 2));
  const Gpu whole = part_of(a100, *instance_of(a100, 7));
  CHECK(whole.sms == 98);
  CHECK(whole.l2.partitions == 2);
  CHECK(whole.l2_bytes == a100.l2_bytes);
}
