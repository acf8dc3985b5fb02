#include "runtime/host/memory_log.h"
#include "test/catch.h"

using namespace warplens;
using runtime::MemoryLog;
using trace::MemoryUse;
using Kind = MemoryUse::Kind;

namespace {

MemoryUse piece(Kind kind, std::uint64_t address, std::uint64_t bytes) {
  return {.kind = kind, .address = address, .row_bytes = bytes, .pitch = bytes, .rows = 1};
}

std::vector<MemoryUse> before(std::uint32_t launch, std::vector<MemoryUse> uses) {
  for (MemoryUse& use : uses)
    use.launch = launch;
  return uses;
}

} // namespace

TEST_CASE("Uses are reported in order, once") {
  MemoryLog log;
  log.add(piece(Kind::written, 0x1000, 100));
  log.add(piece(Kind::read, 0x5000, 50));
  log.add(piece(Kind::read, 0x1000, 100)); // later than the others now, and still written
  log.add(piece(Kind::read, 0x1000, 40));  // another place
  log.add(piece(Kind::read, 0x9000, 0));
  CHECK(log.take(3) == before(3, {piece(Kind::read, 0x5000, 50), piece(Kind::written, 0x1000, 100),
                                  piece(Kind::read, 0x1000, 40)}));
  CHECK(log.take(4).empty());
}

TEST_CASE("Pieces that follow one another are one, rows without gaps too") {
  MemoryLog log;
  for (std::uint64_t i = 0; i < 1'000'000; ++i)
    log.add(piece(Kind::written, 0x10000 + 4 * i, 4));
  log.add({.kind = Kind::read, .address = 0x100, .row_bytes = 16, .pitch = 16, .rows = 8});
  const MemoryUse rows{.kind = Kind::read, .address = 0x180, .row_bytes = 16, .pitch = 32, .rows = 8};
  log.add(rows);
  CHECK(log.take(0) == std::vector<MemoryUse>{piece(Kind::written, 0x10000, 4'000'000),
                                              piece(Kind::read, 0x100, 128), rows});
}

TEST_CASE("An unseen event makes everything before it unknown") {
  MemoryLog log;
  log.add(piece(Kind::written, 0x1000, 100));
  log.add_unseen("f()");
  log.add_unseen("g()");
  log.add(piece(Kind::read, 0x1000, 100));
  CHECK(log.take(1) == before(1, {{.kind = Kind::unseen, .what = "g()"}, piece(Kind::read, 0x1000, 100)}));
}

TEST_CASE("The log is bounded: the oldest uses are dropped") {
  MemoryLog log;
  for (std::uint64_t i = 0; i < MemoryLog::max_uses + 10; ++i)
    log.add(piece(Kind::written, 0x1000 * i, 8));
  const auto many = log.take(0);
  REQUIRE(many.size() == MemoryLog::max_uses + 1);
  CHECK(many[0].kind == Kind::unseen);
  CHECK(many[0].what == "more copies and fills than are kept");
  CHECK(many[1] == piece(Kind::written, 0x1000 * 10, 8));

  for (std::uint64_t i = 0; i < 10; ++i)
    log.add(piece(Kind::written, i << 40, MemoryLog::max_bytes / 4));
  CHECK(log.take(0).size() == 1 + 4);
  log.add(piece(Kind::read, 0, 100));
  log.add(piece(Kind::written, 1 << 20, 10 * MemoryLog::max_bytes));
  CHECK(log.take(0).size() == 1 + 1);
}
