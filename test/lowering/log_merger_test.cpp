// The merging rule in isolation, on logs written by hand.
#include "runtime/cpu/execution/log_merger.h"
#include "test/catch.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

using namespace warplens;
using namespace warplens::cpu;

namespace {

struct Lines : WarpAccessSink {
  std::vector<ring::Line> lines;
  void access(std::uint32_t, const ring::Line& line) override { lines.push_back(line); }
};

/// Appends as lowered code does.
void append(LaneContext& lane, std::uint32_t key, std::uint64_t address) {
  REQUIRE(lane.log_next != lane.log_end);
  *lane.log_next = address;
  std::memcpy(reinterpret_cast<char*>(lane.log_next) + lane.log_keys, &key, sizeof(key));
  lane.log_next += sizeof(LogRow) / sizeof(std::uint64_t);
}

/// Three lanes. Key 0 is site 10, key 1 site 11, key 2 the end of their loop, key 3 site 13, key 4 a barrier
/// at site 14.
struct Fixture {
  const KeyRecord keys[5] = {{10, 4, 0, {}}, {11, 8, 1, {}}, {0, 0, 0, {}}, {13, 4, 3, {}}, {14, 0, 4, {}}};
  std::vector<LaneContext> lanes{3};
  std::unique_ptr<LogMerger> merger = std::make_unique<LogMerger>();
  StackPool stacks;
  AddressMap addresses{.shared = {0x1000, 0x100}, .stacks = &stacks};
  Lines sink;

  Fixture() {
    std::array<LaneContext*, warp_lanes> pointers{&lanes[0], &lanes[1], &lanes[2]};
    merger->begin(0, pointers, 3, keys, addresses, sink);
  }
  void log(int lane, std::uint32_t key, std::uint64_t address) {
    append(lanes[static_cast<std::size_t>(lane)], key, address);
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

TEST_CASE_METHOD(Fixture, "merging waits for a lane whose log was full, not for others") {
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

TEST_CASE_METHOD(Fixture, "a held lane's next entries precede the others' later ones") {
  LogMerger::Held held{4};
  held.keys[2] = 1;
  log(0, 0, 0x8000);
  log(0, 1, 0x1008);
  log(2, 3, 0x8000);
  CHECK(merger->merge(1, held) == 3); // a held lane's entries are issued while its log is not empty
  CHECK(sink.lines.size() == 2);
  log(0, 0, 0x8000);
  log(0, 3, 0x8000);
  CHECK(merger->merge(1, held) == 7);
  REQUIRE(sink.lines.size() == 4);
  CHECK(sink.lines[2].site == 10);
  CHECK(sink.lines[3].active == 5);
  log(0, 0, 0x8000);
  log(0, 3, 0x8000);
  CHECK(merger->merge(1, held) == 6); // lane 2 may log keys 1 and 2
  REQUIRE(sink.lines.size() == 5);
  CHECK(sink.lines[4].site == 10);
}

namespace {

/// A slow implementation of the rule on logs of unlimited length.
struct ReferenceMerger {
  struct Entry {
    std::uint32_t key;
    std::uint64_t address;
  };
  struct Issue {
    std::uint64_t site;
    std::uint32_t active;
    std::array<std::uint64_t, 32> addresses;
    bool operator==(const Issue&) const = default;
  };
  const KeyRecord* keys;
  std::vector<std::deque<Entry>> logs;
  std::vector<Issue> issued;

  std::uint32_t empty() const {
    std::uint32_t mask = 0;
    for (std::size_t lane = 0; lane < logs.size(); ++lane)
      mask |= static_cast<std::uint32_t>(logs[lane].empty()) << lane;
    return mask;
  }
  std::uint32_t merge(std::uint32_t full, const LogMerger::Held& held = {}) {
    const std::uint32_t all = logs.size() == 32 ? ~0U : (1U << logs.size()) - 1;
    while (!(empty() & full) && empty() != all) {
      std::uint32_t smallest = ~0U, held_from = ~0U;
      for (std::size_t lane = 0; lane < logs.size(); ++lane)
        if (!logs[lane].empty())
          smallest = std::min(smallest, logs[lane].front().key);
        else if (held.lanes >> lane & 1)
          held_from = std::min(held_from, static_cast<std::uint32_t>(held.keys[lane]));
      if (smallest >= held_from)
        break;
      Issue issue{keys[smallest].site, 0, {}};
      for (std::size_t lane = 0; lane < logs.size(); ++lane)
        if (!logs[lane].empty() && logs[lane].front().key == smallest) {
          issue.active |= 1U << lane;
          issue.addresses[lane] = logs[lane].front().address;
          logs[lane].pop_front();
        }
      if (issue.site)
        issued.push_back(issue);
    }
    return empty();
  }
};

} // namespace

TEST_CASE("logs of any content and length merge by the rule") {
  std::mt19937 random(11);
  const KeyRecord keys[] = {{10, 4, 0, {}}, {11, 8, 1, {}}, {0, 0, 0, {}}, {13, 4, 3, {}}, {14, 4, 0, {}}};
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t lane_count = round % 4 ? 32 : 1 + random() % 32;
    std::vector<LaneContext> lanes(lane_count);
    std::array<LaneContext*, warp_lanes> pointers{};
    for (std::uint32_t lane = 0; lane < lane_count; ++lane)
      pointers[lane] = &lanes[lane];
    const auto merger = std::make_unique<LogMerger>();
    const StackPool stacks;
    const AddressMap addresses{.shared = {0x1000, 0x100}, .stacks = &stacks};
    Lines sink;
    merger->begin(0, pointers, lane_count, keys, addresses, sink);
    ReferenceMerger reference{keys, std::vector<std::deque<ReferenceMerger::Entry>>(lane_count), {}};
    for (int step = 0; step < 6; ++step) {
      std::uint32_t full = 0;
      const auto most = random() % 2 ? random() % 8 : LogMerger::capacity;
      const bool alike = random() % 2; // lanes do the same, with a few exceptions
      std::uint32_t common[LogMerger::capacity];
      for (std::uint32_t& key : common)
        key = random() % 5;
      for (std::uint32_t lane = 0; lane < lane_count; ++lane) {
        for (std::uint32_t i = 0; i < most && lanes[lane].log_next != lanes[lane].log_end; ++i) {
          const std::uint32_t key = alike && random() % 64 ? common[i] : random() % 5;
          const std::uint64_t address = 0x10000000000 + random();
          append(lanes[lane], key, address);
          reference.logs[lane].push_back({key, address});
        }
        if (lanes[lane].log_next == lanes[lane].log_end && random() % 2)
          full |= 1U << lane;
      }
      LogMerger::Held held;
      if (random() % 2)
        held.lanes = static_cast<std::uint32_t>(random());
      for (std::int32_t& key : held.keys)
        key = static_cast<std::int32_t>(random() % 6);
      REQUIRE(merger->merge(full, held) == reference.merge(full, held));
    }
    REQUIRE(merger->merge(0) == reference.merge(0));
    std::vector<ReferenceMerger::Issue> issued;
    for (const ring::Line& line : sink.lines) {
      issued.push_back({line.site, line.active, {}});
      std::copy_n(line.addresses, 32, issued.back().addresses.begin());
    }
    REQUIRE(issued == reference.issued);
  }
}

TEST_CASE("the same word of a warp's lanes lies side by side, and every warp of the grid has its own") {
  StackPool stacks;
  stacks.reserve(96, 4096);
  // Returns the addresses of warp 1's access `depth` bytes below the top of each stack.
  const auto addresses_at = [&](std::uint64_t depth, std::uint64_t first_warp) {
    const KeyRecord keys[] = {{10, 4, 0, {}}};
    std::vector<LaneContext> lanes(32);
    std::array<LaneContext*, warp_lanes> pointers{};
    for (std::size_t lane = 0; lane < 32; ++lane)
      pointers[lane] = &lanes[lane];
    const AddressMap map{.shared = {0x1000, 0x100},
                         .stacks = &stacks,
                         .around_constants = {},
                         .first_warp = first_warp,
                         .local_bytes = 256};
    const auto merger = std::make_unique<LogMerger>();
    Lines sink;
    merger->begin(1, pointers, 32, keys, map, sink);
    for (std::size_t lane = 0; lane < 32; ++lane)
      append(lanes[lane], 0, reinterpret_cast<std::uint64_t>(stacks.top(32 + lane)) - depth);
    merger->merge(0);
    REQUIRE(sink.lines.size() == 1);
    CHECK(sink.lines[0].space == static_cast<int>(Space::local));
    CHECK(sink.lines[0].active == ~0U);
    return std::vector<std::uint64_t>(sink.lines[0].addresses, sink.lines[0].addresses + 32);
  };
  const auto first = addresses_at(128, 0);
  for (std::size_t lane = 0; lane < 32; ++lane)
    CHECK(first[lane] == first[0] + 4 * lane);
  CHECK(first[0] % 128 == 0);
  CHECK(addresses_at(124, 0)[5] == first[5] + 128); // the next word
  CHECK(addresses_at(126, 0)[5] == first[5] + 2);   // a byte of the same word
  CHECK(addresses_at(128, 2)[0] == first[0] + 2 * 32 * 256);
  CHECK(addresses_at(128 + 256, 0)[0] == first[0]); // no thread has more than its share
}

TEST_CASE_METHOD(Fixture, "a barrier has lanes, and neither a space nor addresses") {
  log(0, 4, 0);
  log(2, 4, 0);
  CHECK(merger->merge(0) == 7);
  REQUIRE(sink.lines.size() == 1);
  CHECK(sink.lines[0].site == 14);
  CHECK(sink.lines[0].active == 5);
  CHECK(sink.lines[0].bytes == 0);
  CHECK(Space(sink.lines[0].space) == Space::generic);
  CHECK(AccessKind(sink.lines[0].kind) == AccessKind::barrier);
  CHECK(std::ranges::all_of(sink.lines[0].addresses, [](std::uint64_t address) { return address == 0; }));
}

TEST_CASE_METHOD(Fixture, "lanes in different spaces are accesses of their own") {
  log(0, 3, 0x8000);
  log(1, 3, 0x1010);
  merger->merge(0);
  REQUIRE(sink.lines.size() == 2);
  CHECK(sink.lines[0].space == static_cast<int>(Space::global));
  CHECK(sink.lines[0].active == 1);
  CHECK(sink.lines[1].space == static_cast<int>(Space::shared));
  CHECK(sink.lines[1].active == 2);
  CHECK(sink.lines[1].addresses[1] == 0x10);
}
