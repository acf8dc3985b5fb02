// The merging rule by itself, on logs written by hand.
#include "runtime/cpu/log_merger.h"
#include "test/catch.h"

#include <vector>

using namespace warplens;
using namespace warplens::cpu;

namespace {

struct Lines : WarpAccessSink {
  std::vector<ring::Line> lines;
  void access(std::uint32_t, const ring::Line& line) override { lines.push_back(line); }
};

/// Three lanes. Key 0 is site 10, key 1 site 11, key 2 the end of their loop, key 3 site 13.
struct Fixture {
  const KeyRecord keys[4] = {{10, 4, 0, {}}, {11, 8, 1, {}}, {0, 0, 0, {}}, {13, 4, 3, {}}};
  std::vector<LaneContext> lanes{3};
  std::unique_ptr<LogMerger> merger = std::make_unique<LogMerger>();
  StackPool stacks;
  AddressMap addresses{.shared = {0x1000, 0x100}, .stacks = &stacks};
  Lines sink;

  Fixture() {
    std::array<LaneContext*, trace::warp_lanes> pointers{&lanes[0], &lanes[1], &lanes[2]};
    merger->begin(0, pointers, 3, keys, addresses, sink);
  }
  void log(int lane, std::uint32_t key, std::uint64_t address) {
    *lanes[lane].log_next++ = {address, key, 0};
  }
};

} // namespace

TEST_CASE_METHOD(Fixture,
                 "the smallest key goes first, with all lanes that have it; loop ends issue nothing") {
  for (const int lane : {0, 1, 2}) {
    log(lane, 0, 0x8000);
    if (lane == 1)
      log(lane, 1, 0x1008);
    log(lane, 2, 0);
    log(lane, 0, 0x9000);
    log(lane, 2, 0);
  }
  CHECK(merger->merge(0) == 7);
  REQUIRE(sink.lines.size() == 3);
  CHECK(sink.lines[0].site == 10);
  CHECK(sink.lines[0].active == 7);
  CHECK(sink.lines[1].site == 11);
  CHECK(sink.lines[1].active == 2);
  CHECK(sink.lines[1].bytes == 8);
  CHECK(sink.lines[1].addresses[1] == 8); // an offset into shared memory
  CHECK(sink.lines[1].addresses[0] == 0);
  CHECK(sink.lines[2].site == 10);
  CHECK(sink.lines[2].active == 7);
}

TEST_CASE_METHOD(Fixture, "a lane whose log was full is waited for, others are not") {
  log(0, 0, 0x8000);
  log(1, 3, 0x8000);
  CHECK(merger->merge(1) == 5); // lane 0 may log more before key 3
  CHECK(sink.lines.size() == 1);
  log(0, 3, 0x8004);
  CHECK(merger->merge(0) == 7);
  REQUIRE(sink.lines.size() == 2);
  CHECK(sink.lines[1].active == 3);
  CHECK(sink.lines[1].kind == 3);
}

TEST_CASE_METHOD(Fixture, "lanes in different spaces are accesses of their own") {
  log(0, 3, 0x8000);
  log(1, 3, 0x1010);
  merger->merge(0);
  REQUIRE(sink.lines.size() == 2);
  CHECK(sink.lines[0].space == static_cast<int>(trace::Space::global));
  CHECK(sink.lines[0].active == 1);
  CHECK(sink.lines[1].space == static_cast<int>(trace::Space::shared));
  CHECK(sink.lines[1].active == 2);
  CHECK(sink.lines[1].addresses[1] == 0x10);
}
