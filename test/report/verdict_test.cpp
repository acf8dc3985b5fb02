#include "report/verdict.h"
#include "test/catch.h"
#include "test/result/sample_result.h"

#include <cmath>

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

namespace {

SiteResult timed(AccessKind kind, double waited,
                 std::initializer_list<std::pair<Resource, double>> occupied) {
  SiteResult site = coalesced(0.9, 0.5);
  site.site.kind = kind;
  site.time = test::site_time(waited, 0.5, occupied);
  return site;
}

KernelResult bound_by(std::optional<Resource> bound) {
  KernelResult kernel;
  kernel.time.emplace().bound = bound;
  return kernel;
}

} // namespace

TEST_CASE("what takes the time: the share of the work that bounds the kernel, or the wait") {
  using enum Resource;
  const KernelResult latency = bound_by(std::nullopt), channels = bound_by(dram);
  const SiteResult load = timed(AccessKind::load, 512, {{dram, 0.71}});
  CHECK(time_verdict_on(load, channels) == "accounts for 71 % of the DRAM traffic");
  CHECK(time_verdict_on(load, latency) == "warps wait 512 cycles per execution for it");
  CHECK(time_verdict_on(load, bound_by(l2_slices)) == "warps wait 512 cycles per execution for it");
  CHECK(time_verdict_on(load, {}).empty());
  CHECK(time_verdict_on(coalesced(0.9, 0.5), channels).empty());

  // No warp waits for a store's result.
  const SiteResult store = timed(AccessKind::store, 0, {{dram, 0.01}});
  CHECK(time_verdict_on(store, channels).empty());
  CHECK(time_verdict_on(store, latency).empty());
  CHECK(time_verdict_on(timed(AccessKind::load, std::nan(""), {{dram, std::nan("")}}), channels).empty());
}

TEST_CASE("contention: atomics that bound the kernel or keep the L2 busy, at sites with a part in it") {
  const SiteResult site = timed(AccessKind::atomic, 900, {{Resource::atomics, 0.85}});
  const KernelResult bound = bound_by(Resource::atomics);
  CHECK(findings_on(site, bound).at(0).rule == Rule::contention);
  CHECK(verdict_on(site, bound) == "contended: 85 % of the L2's atomics, which bound the kernel");
  CHECK(time_verdict_on(site, bound).empty()); // the finding says it

  KernelResult busy = bound_by(std::nullopt);
  busy.time->busy[static_cast<std::size_t>(Resource::atomics)] = 0.6;
  CHECK(verdict_on(site, busy) ==
        "contended: 85 % of the L2's atomics, which keep it busy for 60 % of the time");
  CHECK(time_verdict_on(site, busy) == "warps wait 900 cycles per execution for it");

  CHECK(findings_on(site, bound_by(std::nullopt)).empty());
  CHECK(findings_on(timed(AccessKind::atomic, 900, {{Resource::atomics, 0.01}}), bound).empty());
}

TEST_CASE("a line's first verdict is on the site with the largest share of the time, if there is a time") {
  SiteResult slow = coalesced(0.9, 0.5), waited = slow;
  slow.latency_share = 0.5;
  slow.time = test::site_time(0, 0.1, {});
  waited.time = test::site_time(100, 0.3, {});
  CostlyLine line;
  line.sites = {&slow, &waited};
  CHECK(verdicts_on(line, {}).at(0).site == &slow);
  const auto verdicts = verdicts_on(line, bound_by(std::nullopt));
  CHECK(verdicts.at(0).site == &waited);
  CHECK(verdicts.at(0).time == "warps wait 100 cycles per execution for it");
}
