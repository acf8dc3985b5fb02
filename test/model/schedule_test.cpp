// The schedule of an SM.
#include "made_trace.h"
#include "model/replay/schedule.h"

#include <algorithm>

using namespace warplens;
using test::MadeTrace;

namespace {

struct Issued {
  std::uint32_t line; ///< made unique, so that it names the access
  std::size_t bulk;
};

std::vector<Issued> issue_all(const model::Snapshot& snapshot, std::uint32_t resident, std::uint32_t trial,
                              const model::Gpu& gpu) {
  Random random(5, 0, trial);
  std::vector<std::uint32_t> blocks(snapshot.blocks.size());
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    blocks[i] = i;
  model::SmSchedule schedule(snapshot, blocks, resident, gpu, random);
  std::vector<Issued> issued;
  std::uint64_t left = schedule.transactions_left();
  CHECK(left == snapshot.transactions);
  for (std::size_t bulk = 0;; ++bulk) {
    const std::uint64_t of_turn =
        schedule.issue_round(1, [&](const model::Access&, const model::Transaction* transactions) {
          issued.push_back({transactions->line, bulk});
        });
    if (of_turn == 0)
      break;
    left -= of_turn;
    CHECK(schedule.transactions_left() == left);
  }
  CHECK(left == 0);
  return issued;
}

model::Gpu scheduled(model::BlockStart start) {
  model::Gpu on = test::gpu("v100");
  on.schedule = {model::BlockPlacement::in_order, start};
  return on;
}

} // namespace

TEST_CASE("Every access is issued once, each warp's in its order or in a rotation of it") {
  constexpr unsigned blocks = 7, warps = 3;
  MadeTrace made(blocks, 32 * warps);
  const auto load = made.site();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges; // of each warp: first line, count
  std::uint32_t line = 0;
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned warp = 0; warp < warps; ++warp) {
      const std::uint32_t count = 5 + 10 * warp + block;
      ranges.push_back({line, count});
      for (std::uint32_t i = 0; i < count; ++i, ++line)
        made.access(block, warp, load, 4, [=](unsigned) { return 128ull * line; }, 1);
    }
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  for (const auto start : {model::BlockStart::random_delay, model::BlockStart::random_point})
    for (const std::uint32_t resident : {1u, 3u, 20u}) {
      INFO("start " << int(start) << ", " << resident << " resident");
      const auto issued = issue_all(*snapshot, resident, 0, scheduled(start));
      REQUIRE(issued.size() == line);
      unsigned rotated = 0;
      for (std::size_t w = 0; w < ranges.size(); ++w) {
        const auto [first, count] = ranges[w];
        std::vector<std::uint32_t> own;
        for (const Issued& one : issued)
          if (one.line >= first && one.line - first < count)
            own.push_back(one.line - first);
        REQUIRE(own.size() == count);
        for (std::size_t i = 1; i < own.size(); ++i)
          CHECK(own[i] == (own[i - 1] + 1) % count);
        rotated += own[0] != 0;
        // Blocks that were not resident at the start run from their beginning.
        if (w / warps >= resident)
          CHECK(own[0] == 0);
      }
      CHECK((rotated != 0) == (start == model::BlockStart::random_point));
    }
}

TEST_CASE("Trials differ in the stagger of the first blocks") {
  MadeTrace made(8, 32);
  const auto load = made.site();
  for (std::uint64_t block = 0; block < 8; ++block)
    for (std::uint64_t i = 0; i < 100; ++i)
      made.access(block, 0, load, 4, [=](unsigned) { return 128 * (100 * block + i); }, 1);
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  for (const auto start : {model::BlockStart::random_delay, model::BlockStart::random_point}) {
    // The position of the last of two blocks when the first is at its 50th access.
    const auto place = [&](std::uint32_t trial) {
      std::uint32_t last = 0;
      for (const Issued& one : issue_all(*snapshot, 2, trial, scheduled(start))) {
        if (one.line == 50)
          break;
        if (one.line / 100 == 1)
          last = one.line;
      }
      return last;
    };
    CHECK(place(0) == place(0));
    CHECK((place(0) != place(1) || place(1) != place(2)));
  }
}

TEST_CASE("Each warp issues a bulk in its turn") {
  MadeTrace made(1, 64);
  const auto a = made.site(), b = made.site(); // one bulk
  for (std::uint32_t warp = 0; warp < 2; ++warp)
    for (std::uint64_t i = 0; i < 10; ++i)
      made.access(0, warp, i % 2 == 0 ? a : b, 4, [=](unsigned) { return 128 * (10 * warp + i); }, 1);
  const auto bulks = issue_all(*made.decode(), 1, 0, scheduled(model::BlockStart::random_delay));
  for (std::size_t i = 1; i < bulks.size(); ++i)
    CHECK((bulks[i].line / 10 != bulks[i - 1].line / 10) == (i % 2 == 0));
}

TEST_CASE("Blocks go to the SMs in turn, or in a random order in each round") {
  MadeTrace made(400, 32);
  const auto load = made.site();
  for (std::uint64_t block = 0; block < 400; ++block)
    made.access(block, 0, load, 4, [=](unsigned) { return 128 * block; }, 1);
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  model::Gpu on = test::gpu("v100");
  Random random(1, 0, 0);
  const auto in_order = model::place_blocks(*snapshot, on, random);
  on.schedule.placement = model::BlockPlacement::random;
  const auto shuffled = model::place_blocks(*snapshot, on, random);
  std::vector<bool> seen(400);
  bool moved = false;
  for (std::uint32_t sm = 0; sm < on.sms; ++sm) {
    CHECK(in_order[sm] == std::vector<std::uint32_t>{sm, sm + 80, sm + 160, sm + 240, sm + 320});
    REQUIRE(shuffled[sm].size() == 5);
    for (std::uint32_t round = 0; round < 5; ++round) {
      CHECK(shuffled[sm][round] / 80 == round);
      seen[shuffled[sm][round]] = true;
    }
    moved |= shuffled[sm] != in_order[sm];
  }
  CHECK(std::count(seen.begin(), seen.end(), true) == 400);
  CHECK(moved);
}

TEST_CASE("Bulks end at dependences, at new sequences and where a site comes again") {
  MadeTrace made(1, 32);
  const auto a = made.site(), b = made.site();       // independent
  const auto c = made.site(AccessKind::load, {b});   // needs b
  const auto d = made.site(AccessKind::load, {}, 1); // another sequence
  std::vector<std::uint64_t> order = {a, b, c, d, d, a, b};
  std::uint64_t line = 0;
  for (const std::uint64_t site : order)
    made.access(0, 0, site, 4, [&](unsigned) { return 128 * line++; }, 1);
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  std::vector<bool> starts;
  for (const model::Access& access : snapshot->warps[0].accesses)
    starts.push_back(access.starts_bulk);
  CHECK(starts == std::vector<bool>{true, false, true, true, true, true, false});
}

TEST_CASE("An access to shared memory passes the end of a bulk on") {
  MadeTrace made(1, 32);
  const auto a = made.site(), s = made.site(AccessKind::load, {a}), b = made.site();
  made.access(0, 0, a, 4, [](unsigned) { return 0; }, 1);
  made.access(0, 0, s, 4, [](unsigned) { return 0; }, 1, Space::shared);
  made.access(0, 0, b, 4, [](unsigned) { return 128; }, 1);
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  REQUIRE(snapshot->warps[0].accesses.size() == 2);
  CHECK(snapshot->warps[0].accesses[1].starts_bulk);
}

TEST_CASE("Warps of unequal length advance in proportion") {
  MadeTrace made(1, 64);
  const auto load = made.site();
  for (std::uint64_t i = 0; i < 400; ++i)
    made.access(0, 0, load, 4, [=](unsigned) { return 128 * i; }, 1);
  for (std::uint64_t i = 0; i < 100; ++i)
    made.access(0, 1, load, 4, [=](unsigned) { return 128 * (1000 + i); }, 1);
  const auto issued = issue_all(*made.decode(), 1, 3, scheduled(model::BlockStart::random_delay));
  unsigned longer = 0, shorter = 0;
  for (const Issued& one : issued) {
    ++(one.line < 1000 ? longer : shorter);
    CHECK(std::abs(double(shorter) - longer / 4.0) < 2);
  }
}
