// The order in which an SM issues.
#include "made_trace.h"
#include "model/schedule.h"

using namespace warplens;
using test::MadeTrace;

namespace {

struct Issued {
  std::uint32_t line; ///< made unique, so that it names the access
  std::size_t bulk;
};

std::vector<Issued> issue_all(const model::Snapshot& snapshot, std::uint32_t resident, std::uint32_t trial) {
  model::Random random(5, 0, trial);
  std::vector<std::uint32_t> blocks(snapshot.blocks.size());
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    blocks[i] = i;
  model::SmSchedule schedule(snapshot, blocks, resident, random);
  std::vector<Issued> issued;
  std::uint64_t left = schedule.transactions_left();
  CHECK(left == snapshot.transactions);
  for (std::size_t bulk = 0;; ++bulk) {
    const auto next = schedule.next();
    if (next.accesses.empty())
      break;
    for (const model::Access& access : next.accesses) {
      left -= access.transactions;
      issued.push_back({next.transactions[access.first_transaction].line, bulk});
    }
    CHECK(schedule.transactions_left() == left);
  }
  CHECK(left == 0);
  return issued;
}

} // namespace

TEST_CASE("Every access is issued once, each warp's in a rotation of its order") {
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
  for (const std::uint32_t resident : {1u, 3u, 20u}) {
    const auto issued = issue_all(*snapshot, resident, 0);
    REQUIRE(issued.size() == line);
    for (std::size_t w = 0; w < ranges.size(); ++w) {
      const auto [first, count] = ranges[w];
      std::vector<std::uint32_t> own;
      for (const Issued& one : issued)
        if (one.line >= first && one.line - first < count)
          own.push_back(one.line - first);
      REQUIRE(own.size() == count);
      for (std::size_t i = 1; i < own.size(); ++i)
        CHECK(own[i] == (own[i - 1] + 1) % count);
      // Blocks that were not resident at the start run from their beginning.
      if (w / warps >= resident)
        CHECK(own[0] == 0);
    }
  }
}

TEST_CASE("Trials differ in where they start and in nothing else") {
  MadeTrace made(1, 32);
  const auto load = made.site();
  for (std::uint64_t i = 0; i < 1000; ++i)
    made.access(0, 0, load, 4, [=](unsigned) { return 128 * i; }, 1);
  const auto snapshot = made.decode();
  REQUIRE(snapshot);
  const auto start = [&](std::uint32_t trial) { return issue_all(*snapshot, 1, trial)[0].line; };
  CHECK(start(0) == start(0));
  CHECK((start(0) != start(1) || start(1) != start(2)));
}

TEST_CASE("Bulks end at dependences, at new sequences and where a site comes again") {
  MadeTrace made(1, 32);
  const auto a = made.site(), b = made.site();              // independent
  const auto c = made.site(trace::AccessKind::load, {b});   // needs b
  const auto d = made.site(trace::AccessKind::load, {}, 1); // another sequence
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
  const auto a = made.site(), s = made.site(trace::AccessKind::load, {a}), b = made.site();
  made.access(0, 0, a, 4, [](unsigned) { return 0; }, 1);
  made.access(0, 0, s, 4, [](unsigned) { return 0; }, 1, trace::Space::shared);
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
  const auto issued = issue_all(*made.decode(), 1, 3);
  // The random start splits the block in two parts; within each, a quarter of the long warp's accesses come
  // with each of the short one's.
  unsigned longer = 0, shorter = 0;
  for (const Issued& one : issued) {
    ++(one.line < 1000 ? longer : shorter);
    CHECK(std::abs(double(shorter) - longer / 4.0) < 3);
  }
}
