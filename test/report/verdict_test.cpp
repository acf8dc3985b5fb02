#include "report/verdict.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

using namespace warplens;
using namespace warplens::report;

namespace {

SiteResult coalesced(double l1, double l2) {
  SiteResult site = test::site(1, 1, 1, "a[i]", "a");
  site.executions = 10;
  site.active_lanes = 32;
  site.sectors_per_request = 4;
  site.bytes_used = 1280;
  site.l1_hit_rate = test::statistic(l1, 0);
  site.l2_hit_rate = test::statistic(l2, 0);
  return site;
}

} // namespace

TEST_CASE("verdicts follow from the figures") {
  CHECK(verdict_on(coalesced(0.9, 0.5), {}) == "fine: 90.0 % L1 hits");

  SiteResult scattered = coalesced(0.9, 0.5);
  scattered.sectors_per_request = 32;
  CHECK(needed_sectors_per_request(scattered) == Approx(4));
  CHECK(verdict_on(scattered, {}) == "uncoalesced: 32.0 sectors per request where 4.00 would do");

  SiteResult store = coalesced(0, 0.25);
  store.site.kind = AccessKind::store;
  store.l1_hit_rate.reset();
  CHECK(verdict_on(store, {}) == "fine: 4.00 sectors per request, 25.0 % of them in L2 already");
  SiteResult first = store;
  first.l2_hit_rate = test::statistic(0, 0);
  CHECK(verdict_on(first, {}) == "fine: 4.00 sectors per request, none of them in L2 already");
  SiteResult atomic = store;
  atomic.site.kind = AccessKind::atomic;
  CHECK(verdict_on(atomic, {}) == "fine: 25.0 % L2 hits");

  SiteResult shared = test::site(2, 1, 1, "tile[i]", "tile");
  shared.executions = 5;
  shared.active_lanes = 32;
  shared.bank_conflicts = 31;
  CHECK(verdict_on(shared, {}) == "bank conflicts: 31.0 extra passes per request");
  shared.bank_conflicts = 0;
  CHECK(verdict_on(shared, {}) == "fine: hardly any bank conflicts");
}

TEST_CASE("sectors from far levels: touched once is streaming, again and again is poor locality") {
  KernelResult kernel;
  CHECK(verdict_on(coalesced(0.1, 0.2), kernel) == "72.0 % of its sectors come from DRAM");
  CHECK(findings_on(coalesced(0.1, 0.2), kernel).at(0).rule == Rule::from_afar);

  ObjectResult& object = kernel.objects.emplace_back();
  object.name = std::string("a");
  object.footprint_bytes = 1000 * 32;
  object.bytes_moved = 1050 * 32;
  CHECK(verdict_on(coalesced(0, 0), kernel) ==
        "streaming: 100.0 % of its sectors come from DRAM, each is touched once");
  CHECK(verdict_on(coalesced(0, 0.9), kernel) ==
        "streaming: 100.0 % of its sectors come from L2 or DRAM, each is touched once");
  CHECK(findings_on(coalesced(0, 0), kernel).at(0).rule == Rule::streaming);

  object.bytes_moved = 8000 * 32;
  CHECK(verdict_on(coalesced(0.1, 0.2), kernel) ==
        "poor locality: 72.0 % of its sectors come from DRAM, each is touched 8.00 times");
  CHECK(verdict_on(coalesced(0.1, 0.9), kernel) ==
        "poor L1 locality: 90.0 % of its sectors come from L2 or DRAM, each is touched 8.00 times");
  CHECK(verdict_on(coalesced(0.9, 0), kernel) == "fine: 90.0 % L1 hits");

  SiteResult nameless = coalesced(0, 0);
  nameless.site.object.clear();
  object.name.clear();
  CHECK(findings_on(nameless, kernel).at(0).rule == Rule::from_afar);
}

TEST_CASE("a line's verdicts: its most expensive site, and the other wasteful ones") {
  SiteResult cheap = coalesced(0.9, 0.5), dear = cheap, scattered = cheap;
  dear.latency_share = 0.5;
  scattered.sectors_per_request = 32;
  CostlyLine line;
  line.sites = {&cheap, &dear, &scattered};
  const auto verdicts = verdicts_on(line, {});
  REQUIRE(verdicts.size() == 2);
  CHECK(verdicts[0].site == &dear);
  CHECK(verdicts[1].site == &scattered);
}

TEST_CASE("one lane needs one sector, and is reported to be alone") {
  SiteResult site = coalesced(0.875, 0.5);
  site.active_lanes = 1;
  site.sectors_per_request = 1;
  site.bytes_used = 40;
  CHECK(needed_sectors_per_request(site) == Approx(1));
  CHECK(verdict_on(site, {}) == "fine: 87.5 % L1 hits; only 1.00 of 32 lanes active");
}

TEST_CASE("a site without observations has no findings") {
  CHECK(verdict_on(test::site(3, 1, 1, "p[0]", "p"), {}) == "nothing notable was observed");
  CHECK_FALSE(needed_sectors_per_request(test::site(3, 1, 1, "p[0]", "p")).has_value());
}
