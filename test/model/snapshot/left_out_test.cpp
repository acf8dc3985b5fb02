#include "model/snapshot/snapshot_builder.h"
#include "test/catch.h"
#include "trace/executed.h"

#include <random>

using namespace warplens;

namespace {

trace::Launch two_blocks() {
  trace::Launch launch;
  launch.kernel = "k";
  launch.grid.x = 2;
  launch.block.x = 64;
  launch.blocks = 2;
  return launch;
}

model::SnapshotBuilder executed_builder(const std::vector<Site>& sites) {
  return {sites, two_blocks(), {}, {}, model::Accesses::executed};
}

trace::WarpAccess executed_load(std::uint64_t address) {
  trace::WarpAccess access;
  access.active = 3;
  access.bytes = 4;
  access.addresses = {address, address + 4};
  return access;
}

trace::WarpAccess record_of(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
  trace::WarpAccess access;
  access.active = 7;
  access.bytes = 4;
  access.addresses = {first, second, third};
  return access;
}

} // namespace

TEST_CASE("Iterations that are left out count, and stand where they were") {
  const std::vector<Site> sites(1);
  model::SnapshotBuilder made = executed_builder(sites);
  for (std::uint64_t i = 0; i < 8; ++i)
    REQUIRE(made.add_executed(0, 0, 0, executed_load(4096 + 64 * i)));
  REQUIRE(made.leave_out(0, 0, record_of(12, 4, 4)));
  REQUIRE(made.describe(0, 0, executed_load(4096 + 64 * 8), executed_load(4096 + 64 * 19)));
  for (std::uint64_t i = 20; i < 23; ++i)
    REQUIRE(made.add_executed(0, 0, 0, executed_load(4096 + 64 * i)));
  REQUIRE(made.end_check(0, 0, record_of(2, 10, 0)));
  const model::Snapshot snapshot = std::move(made).finish(true);
  REQUIRE(snapshot.leaves_out);
  const model::Warp& warp = snapshot.warps.front();
  REQUIRE(warp.accesses.size() == 11);
  CHECK(warp.accesses[4].begins == model::SampledPart::measured);
  CHECK(warp.accesses[8].begins == model::SampledPart::behind_gap);
  CHECK(warp.accesses[10].begins == model::SampledPart::whole);
  REQUIRE(warp.gaps.size() == 1);
  CHECK(warp.gaps[0].left_out == 3);
  CHECK(warp.gaps[0].checked == 0.5);
  CHECK(warp.gaps[0].loads.size() == 6); // two iterations touch each line
  CHECK(snapshot.sites.front().executions == 23);
}

TEST_CASE("Damaged records of what is left out are refused with one line, or change only counts") {
  const std::vector<Site> sites(2);
  std::mt19937_64 random(3);
  const auto number = [&]() -> std::uint64_t {
    switch (random() % 4) {
    case 0: return random();
    case 1: return random() % 3;
    default: return random() % 40;
    }
  };
  std::uint64_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    model::SnapshotBuilder made = executed_builder(sites);
    for (std::uint64_t i = 0; i < 8; ++i)
      REQUIRE(made.add_executed(0, 0, std::uint32_t(i % 2), executed_load(4096 + 64 * i)));
    Expected<void> result;
    for (int i = 0; i < 6 && result; ++i) {
      const std::uint64_t block = random() % 9 == 0 ? number() : 0;
      const std::uint32_t warp = random() % 9 == 0 ? std::uint32_t(number()) : 0;
      switch (random() % 4) {
      case 0: result = made.leave_out(block, warp, record_of(number() % 1000, number(), number())); break;
      case 1: result = made.describe(block, warp, executed_load(number()), executed_load(number())); break;
      case 2: result = made.end_check(block, warp, record_of(number(), number(), 0)); break;
      default: result = made.add_executed(0, 0, 1, executed_load(64 * number() % (1u << 20)));
      }
    }
    if (!result) {
      ++refused;
      REQUIRE(result.error().message.find('\n') == std::string::npos);
      continue;
    }
    const model::Snapshot snapshot = std::move(made).finish(true);
    for (const model::Warp& warp : snapshot.warps) {
      for (const model::Access& access : warp.accesses)
        REQUIRE(access.site < snapshot.sites.size());
      for (const model::Gap& gap : warp.gaps) {
        REQUIRE(gap.measured < gap.before);
        REQUIRE(gap.before <= warp.accesses.size());
      }
    }
    for (const model::SiteSummary& site : snapshot.sites)
      REQUIRE((site.measures == model::SiteSummary::not_measured || site.measures < snapshot.sites.size()));
  }
  CHECK(refused > 100);
  model::SnapshotBuilder made = executed_builder(sites);
  REQUIRE(made.add_executed(0, 0, 0, executed_load(4096)));
  const auto error = made.leave_out(0, 0, record_of(trace::max_left_out + 1, 1, 0));
  REQUIRE_FALSE(error);
  CHECK(error.error().message == "damaged trace: an access of kernel 'k', block 0, warp 0 leaves out "
                                 "iterations for which no others stand");
}
