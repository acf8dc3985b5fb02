#include "judge/verdict.h"
#include "test/catch.h"
#include "test/result/sample_result.h"
#include "vocabulary/spilled_registers.h"

#include <cmath>

using namespace warplens;
using namespace warplens::judge;

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

namespace {

/// Returns a kernel whose sites are all that access an array of 1000 sectors.
KernelResult with_array(std::vector<SiteResult> sites) {
  KernelResult kernel;
  kernel.grid = {64, 1, 1};
  ObjectResult& object = kernel.objects.emplace_back();
  object.name = std::string("a");
  object.footprint_bytes = 1000 * 32;
  kernel.sites = std::move(sites);
  return kernel;
}

/// Returns a load that touches each sector of the array `touches` times.
SiteResult repeated(double l1, double l2, std::uint64_t touches) {
  SiteResult site = coalesced(l1, l2);
  site.bytes_moved = touches * 1000 * 32;
  return site;
}

std::string alone(const SiteResult& site) {
  return verdict_on(site, with_array({site}));
}

} // namespace

TEST_CASE("sectors from far levels: fetched once is streaming, again and again is poor locality") {
  CHECK(verdict_on(coalesced(0.1, 0.2), {}) == "72.0 % of its sectors come from DRAM");
  CHECK(findings_on(coalesced(0.1, 0.2), {}).at(0).rule == Rule::beyond_l1);

  CHECK(alone(repeated(0, 0, 1)) == "streaming: 100.0 % of its sectors come from DRAM, each is fetched once");
  CHECK(alone(repeated(0, 0.9, 1)) ==
        "from L2: 90.0 % of its sectors come from L2, 10.0 % from DRAM, each is fetched once");
  CHECK(alone(repeated(0, 1, 1)) == "from L2: 100.0 % of its sectors come from L2, each is fetched once");
  CHECK(findings_on(repeated(0, 0, 1), with_array({repeated(0, 0, 1)})).at(0).rule == Rule::streaming);

  CHECK(alone(repeated(0.1, 0.2, 8)) ==
        "poor locality: 72.0 % of its sectors come from DRAM, each is fetched 5.76 times");
  CHECK(alone(repeated(0.1, 0.9, 8)) ==
        "poor L1 locality: 81.0 % of its sectors come from L2, 9.0 % from DRAM, each is fetched 7.20 times");
  CHECK(alone(repeated(0.9, 0, 8)) == "fine: 90.0 % L1 hits");

  // The load that comes first misses for the others: in[i - 1], in[i] and in[i + 1].
  const SiteResult first = repeated(0.1, 0, 1), others = repeated(1, 0, 2);
  CHECK(verdict_on(first, with_array({first, others})) ==
        "streaming: 90.0 % of its sectors come from DRAM, each is fetched once");

  SiteResult nameless = repeated(0, 0, 1);
  nameless.site.object.clear();
  CHECK(findings_on(nameless, with_array({nameless})).at(0).rule == Rule::beyond_l1);
}

TEST_CASE("a line's verdicts: its most expensive site, and the other wasteful ones") {
  SiteResult cheap = coalesced(0.9, 0.5), dear = cheap, scattered = cheap;
  dear.latency_share = 0.5;
  scattered.sectors_per_request = 32;
  CostlyLine line;
  line.sites = {&cheap, &dear, &scattered};
  CHECK(sites_to_explain(line, {}) == std::vector<const SiteResult*>{&dear, &scattered});
}

TEST_CASE("one lane needs one sector, and is reported to be alone") {
  SiteResult site = coalesced(0.875, 0.5);
  site.active_lanes = 1;
  site.sectors_per_request = 1;
  site.bytes_used = 40;
  CHECK(needed_sectors_per_request(site) == Approx(1));
  KernelResult kernel;
  kernel.block = {64, 1, 1};
  CHECK(verdict_on(site, kernel) == "fine: 87.5 % L1 hits; only 1.00 of 32 lanes active");
  kernel.block = {};
  CHECK(verdict_on(site, kernel) == "fine: 87.5 % L1 hits; only one thread works");
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

KernelResult bound_by(std::optional<Resource> bound, std::vector<SiteResult> sites = {}) {
  KernelResult kernel;
  kernel.grid = {64, 1, 1};
  kernel.time.emplace().bound = bound;
  kernel.sites = std::move(sites);
  return kernel;
}

void keep_busy(KernelResult& kernel, Resource resource, double share) {
  kernel.time->busy[static_cast<std::size_t>(resource)] = share;
}

} // namespace

TEST_CASE("what takes the time: the share of the work that bounds the kernel, or the wait") {
  using enum Resource;
  const SiteResult load = timed(AccessKind::load, 512, {{dram, 0.71}});
  const SiteResult often = timed(AccessKind::load, 1.04, {});
  const KernelResult latency = bound_by(std::nullopt, {load, load}), channels = bound_by(dram, {load});
  CHECK(time_verdict_on(load, channels) == "accounts for 71 % of the DRAM traffic");
  const std::string waits = "warps wait 512 cycles per execution for it, ";
  CHECK(time_verdict_on(load, latency) == waits + "50 % of all waiting");
  CHECK(time_verdict_on(load, bound_by(l2_slices, {load})) == waits + "100 % of all waiting");
  CHECK(time_verdict_on(often, bound_by(std::nullopt, {often})) ==
        "warps wait 1.0 cycles per execution for it, 100 % of all waiting");
  CHECK(time_verdict_on(often, latency).empty()); // next to nothing beside the others
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

  KernelResult busy = bound_by(std::nullopt, {site});
  keep_busy(busy, Resource::atomics, 0.6);
  CHECK(verdict_on(site, busy) ==
        "contended: 85 % of the L2's atomics, which keep it busy for 60 % of the time");
  CHECK(time_verdict_on(site, busy) == "warps wait 900 cycles per execution for it, 100 % of all waiting");

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
  CHECK(sites_to_explain(line, {}).at(0) == &slow);
  CHECK(sites_to_explain(line, bound_by(std::nullopt)).at(0) == &waited);
}

TEST_CASE("atomics are contended where lanes or many requests share a word, otherwise only many") {
  SiteResult site = timed(AccessKind::atomic, 0, {{Resource::atomics, 1}});
  const KernelResult bound = bound_by(Resource::atomics);
  site.bytes_used = 10 * 4; // all lanes of each request on one word
  site.sectors_per_request = 1;
  CHECK(verdict_on(site, bound) ==
        "contended: 32.0 lanes at each word; 100 % of the L2's atomics, which bound the kernel");

  site = timed(AccessKind::atomic, 0, {{Resource::atomics, 1}});
  KernelResult few = bound_by(Resource::atomics, {site});
  few.objects = with_array({}).objects;
  few.sites[0].bytes_moved = 32000 * 32;
  CHECK(verdict_on(site, few) == "contended: 100 % of the L2's atomics, which bound the kernel");
  few.sites[0].bytes_moved = 2000 * 32;
  CHECK(verdict_on(site, few) == "too many atomics: 100 % of the L2's atomics, which bound the kernel");
  CHECK(findings_on(site, few).at(0).rule == Rule::too_many_accesses);
}

TEST_CASE("atomics say first that they are contended, and are scattered rather than uncoalesced") {
  SiteResult site = timed(AccessKind::atomic, 0, {{Resource::atomics, 1}});
  site.l1_hit_rate.reset();
  site.sectors_per_request = 20.4;
  CHECK(verdict_on(site, bound_by(Resource::atomics)) ==
        "contended: 100 % of the L2's atomics, which bound the kernel; scattered: 20.4 sectors per request");
}

TEST_CASE("atomics in shared memory are contended: padding does not help where lanes share a word") {
  SiteResult shared = test::site(2, 1, 1, "&s[0]", "s");
  shared.site.kind = AccessKind::atomic;
  shared.executions = 5;
  shared.active_lanes = 32;
  shared.bank_conflicts = 31;
  CHECK(findings_on(shared, {}).at(0).rule == Rule::contention);
  CHECK(verdict_on(shared, {}) ==
        "contended: 31.0 extra passes per request, for lanes at the same word or bank");
}

TEST_CASE("sectors beyond those needed matter where the L1 passes them on, or the memory pipeline is busy") {
  SiteResult site = coalesced(0.9, 0.5);
  site.sectors_per_request = 12; // such as one member of a structure of three: the others hit
  const std::string wasteful = "uncoalesced: 12.0 sectors per request where 4.00 would do";
  KernelResult kernel = bound_by(Resource::dram);
  CHECK(verdict_on(site, kernel) == "fine: 90.0 % L1 hits");
  keep_busy(kernel, Resource::memory_pipeline, 0.6);
  CHECK(verdict_on(site, kernel) == wasteful);
  site.l1_hit_rate = test::statistic(0.6, 0); // 4.8 of the 12 sectors
  CHECK(verdict_on(site, bound_by(Resource::dram)) == wasteful);
  site.l1_hit_rate.reset();
  CHECK(verdict_on(site, bound_by(Resource::dram)) == wasteful);

  SiteResult broadcasts = coalesced(0, 1); // a warp of two rows, each of which reads one word
  broadcasts.sectors_per_request = 2;
  broadcasts.bytes_used = 10 * 8;
  CHECK(findings_on(broadcasts, {}).at(0).rule == Rule::beyond_l1);
}

TEST_CASE("a gather is scattered: no other layout of the threads could pack it") {
  SiteResult gather = coalesced(0, 1), index = coalesced(0, 0);
  gather.sectors_per_request = 30;
  index.site.id = 7;
  gather.site.depends_on = {7};
  const auto verdict = [&] { return verdict_on(gather, bound_by(std::nullopt, {gather, index})); };
  const std::string uncoalesced = "uncoalesced: 30.0 sectors per request where 4.00 would do";
  CHECK(verdict() == "scattered: 30.0 sectors per request, at addresses that were loaded; "
                     "100.0 % of its sectors come from L2");
  index.executions = 4; // the gather's loop begins at a loaded index, and goes on by itself
  CHECK(verdict() == uncoalesced);
  index.executions = 10;
  index.bytes_used = 10 * 4; // all lanes load the same
  CHECK(verdict() == uncoalesced);
}

namespace {

/// Returns the site with lanes at one distance in most of its requests.
SiteResult with_stride(SiteResult site, std::int64_t stride, double sectors) {
  site.pattern = LanePattern{.uniform = 0, .regular = 1, .stride_bytes = stride};
  site.sectors_per_request = sectors;
  site.site.space = Space::global;
  return site;
}

} // namespace

TEST_CASE("lanes at one distance are strided, whatever was loaded for the value") {
  SiteResult store = with_stride(coalesced(0, 0), 4096, 32), load = coalesced(0, 0);
  load.site.id = 7;
  store.site.kind = AccessKind::store;
  store.l1_hit_rate.reset();
  store.site.depends_on = {7};
  const KernelResult kernel = bound_by(std::nullopt, {store, load});
  CHECK(findings_on(store, kernel).at(0).rule == Rule::strided);
  CHECK(verdict_on(store, kernel) == "strided store, lanes 4,096 B apart: 32.0 sectors per request where "
                                     "4.00 would do; let lanes take consecutive "
                                     "elements, or stage them through a tile in shared memory");
  const SiteResult half = with_stride(coalesced(0, 0), -8, 8);
  CHECK(verdict_on(half, bound_by(std::nullopt, {half})) ==
        "strided load, lanes 8 B apart: 8.00 sectors per request where 4.00 would do");
}

TEST_CASE("an update's stores pass the L1, whatever its loads find there") {
  SiteResult site = with_stride(coalesced(0.97, 0), 1024, 32);
  const KernelResult kernel = bound_by(std::nullopt, {site});
  CHECK(findings_on(site, kernel).empty());
  site.site.kind = AccessKind::update;
  CHECK(findings_on(site, kernel).at(0).rule == Rule::strided);
}

TEST_CASE("several accesses to an array at the distance of small structs: an array of structs") {
  SiteResult x = with_stride(coalesced(0, 0), 32, 32), y = x, z = x;
  y.site.column = 2;
  z.site.column = 3;
  KernelResult kernel = bound_by(Resource::dram, {x, y, z});
  CHECK(findings_on(x, kernel).at(0).rule == Rule::array_of_structs);
  CHECK(findings_on(x, kernel).at(0).text == "array of structs: lanes 32 B apart, 12 of 32 B used: 32.0 "
                                             "sectors per request where 4.00 would do; an array "
                                             "for each field would do");
  for (int more = 0; more < 5; ++more)
    kernel.sites.push_back(x);
  CHECK(findings_on(x, kernel).at(0).text ==
        "array of structs: lanes 32 B apart, 32 of 32 B used, by one access after "
        "the other: 32.0 sectors per request where 4.00 would do");
  kernel.sites = {x}; // one field may be all there is at this distance
  CHECK(findings_on(x, kernel).at(0).rule == Rule::strided);
  kernel.sites = {with_stride(x, 1024, 32), with_stride(x, 1024, 32)}; // rows are no structs
  CHECK(findings_on(kernel.sites[0], kernel).at(0).rule == Rule::strided);
}

TEST_CASE("misaligned accesses say by how much, and whether the L1 makes up for it") {
  SiteResult site = coalesced(0.2, 0);
  site.pattern = LanePattern{.regular = 1, .stride_bytes = 4, .misaligned = 1, .offset_bytes = 4};
  site.sectors_per_request = 5;
  const std::string text =
      "misaligned: begins 4 B behind a sector's begin, 5.00 sectors per request where 4.00 would do";
  CHECK(findings_on(site, {}).at(0).text == text + "; L1 has the further ones, so they cost little");
  CHECK_FALSE(is_waste(findings_on(site, {}).at(0)));
  SiteResult update = site; // what it stores passes the L1
  update.site.kind = AccessKind::update;
  CHECK(findings_on(update, {}).at(0).text == text);
  site.l1_hit_rate = test::statistic(0, 0);
  CHECK(findings_on(site, {}).at(0).text == text);
  CHECK(is_waste(findings_on(site, {}).at(0)));
  site.pattern->misaligned = 0.2;
  CHECK(findings_on(site, {}).at(0).rule != Rule::misaligned);
}

TEST_CASE("a byte for each lane is narrow where memory is not the limit") {
  SiteResult site = timed(AccessKind::load, 100, {});
  site.site.element_bytes = 1;
  site.pattern = LanePattern{.regular = 1, .stride_bytes = 1};
  site.sectors_per_request = 1;
  site.bytes_used = 320;
  CHECK(findings_on(site, bound_by(std::nullopt, {site})).at(0).text ==
        "narrow: 1 B for each lane, 32 B for each request: access 4 or more elements at once");
  CHECK(findings_on(site, bound_by(Resource::dram, {site})).empty());
  site.time = test::site_time(1, 0.01, {});
  CHECK(findings_on(site, bound_by(std::nullopt, {site})).empty());
}

TEST_CASE("one address for all lanes of a small array that nothing writes belongs into constant memory") {
  SiteResult site = timed(AccessKind::load, 100, {});
  site.pattern = LanePattern{.uniform = 1};
  KernelResult kernel = with_array({site});
  kernel.time.emplace();
  kernel.objects[0].footprint_bytes = 256;
  CHECK(findings_on(site, kernel).at(0).text == "uniform: all lanes read one address of a, of which 256 B "
                                                "are read: `__constant__` memory serves that at once");
  kernel.objects[0].footprint_bytes = 65'537;
  CHECK(findings_on(site, kernel).empty());
  kernel.objects[0].footprint_bytes = 256;
  SiteResult store = site;
  store.site.kind = AccessKind::store;
  kernel.sites.push_back(store);
  CHECK(findings_on(site, kernel).empty());
}

TEST_CASE("what is fetched for a tile in shared memory is no poor locality; it matters where the L2 binds") {
  SiteResult load = repeated(0, 1, 16), store = test::site(9, 2, 1, "tile[i]", "tile");
  load.site.id = 8;
  store.site.kind = AccessKind::store;
  store.site.space = Space::shared;
  store.site.depends_on = {8};
  KernelResult kernel = with_array({load, store});
  CHECK(findings_on(load, kernel).empty());
  CHECK(efficiency_text(load, kernel) ==
        "fine: 4.00 sectors per request, 100.0 % of those that L1 misses are in L2");
  kernel.time.emplace().bound = Resource::l2_slices;
  CHECK(findings_on(load, kernel).at(0).text == "tile: 100.0 % of its sectors come from L2, each is fetched "
                                                "16.0 times, by as many blocks: larger tiles would "
                                                "fetch less");
  kernel.sites = {load};
  CHECK(findings_on(load, kernel).at(0).rule == Rule::poor_locality);
}

TEST_CASE("a stream says whether memory could deliver it faster") {
  const SiteResult load = repeated(0, 0, 1);
  KernelResult kernel = with_array({load});
  kernel.time.emplace().bound = Resource::dram;
  CHECK(
      verdict_on(load, kernel) ==
      "streaming: 100.0 % of its sectors come from DRAM, each is fetched once: only fewer bytes would help");
  kernel.time->bound.reset();
  keep_busy(kernel, Resource::dram, 0.25);
  CHECK(verdict_on(load, kernel) ==
        "streaming: 100.0 % of its sectors come from DRAM, each is fetched once, and DRAM is "
        "busy for 25 % of the time: too few requests are under way");
}

TEST_CASE("fetches of textures are not held against rows of linear memory") {
  SiteResult fetch = coalesced(0, 0);
  fetch.site.cache_operator = CacheOperator::tex;
  fetch.sectors_per_request = 16;
  for (const Finding& finding : findings_on(fetch, {}))
    CHECK(finding.rule == Rule::beyond_l1);
}

TEST_CASE("where lanes are a row of banks apart, the rows want padding") {
  SiteResult shared = test::site(2, 1, 1, "tile[i]", "tile");
  shared.executions = 5;
  shared.active_lanes = 32;
  shared.bank_conflicts = 31;
  shared.pattern = LanePattern{.regular = 1, .stride_bytes = 128};
  CHECK(verdict_on(shared, {}) ==
        "bank conflicts: 31.0 extra passes per request, lanes 128 B apart: pad each row by an element");
  shared.pattern->stride_bytes = 8;
  shared.bank_conflicts = 1;
  CHECK(verdict_on(shared, {}) == "bank conflicts: 1.00 extra passes per request, lanes 8 B apart");
}

TEST_CASE("loads that are not cached in L1 come from L2 or DRAM") {
  SiteResult site = repeated(0, 0.97, 3);
  site.l1_hit_rate.reset();
  CHECK(alone(site) == "not cached in L1: 97.0 % of its sectors come from L2, each is fetched 3.00 times");
  site.l2_hit_rate = test::statistic(0, 0);
  CHECK(alone(site) == "poor locality: 100.0 % of its sectors come from DRAM, each is fetched 3.00 times");
  site.bytes_moved = 1000 * 32;
  CHECK(findings_on(site, with_array({site})).at(0).rule == Rule::streaming);
}

TEST_CASE("what is loaded once from a warm L2 was left there; stores count apart") {
  const SiteResult load = repeated(0, 1, 1);
  SiteResult store = load;
  store.site.kind = AccessKind::store;
  store.l1_hit_rate.reset();
  KernelResult kernel = with_array({load});
  kernel.l2_start = L2Start{true, 1 << 20, "left by a copy"};
  CHECK(verdict_on(load, kernel) == "from L2: 100.0 % of its sectors come from L2, each is fetched once; "
                                    "they were there before the launch");
  kernel.sites = {load, store}; // x[i] = 2 * x[i]
  CHECK(verdict_on(load, kernel) == "from L2: 100.0 % of its sectors come from L2, each is fetched once");
  CHECK(verdict_on(store, kernel) ==
        "streaming store: coalesced, 4.00 sectors per request; only fewer bytes would help");
  kernel.sites[1].bytes_moved = 8000 * 32;
  CHECK(verdict_on(store, kernel) == "fine: 4.00 sectors per request, 100.0 % of them in L2 already");
}

TEST_CASE("accesses that are fine one by one can be too many") {
  const SiteResult load = timed(AccessKind::load, 1, {{Resource::memory_pipeline, 0.9}});
  const KernelResult bound = bound_by(Resource::memory_pipeline, {load});
  CHECK(verdict_on(load, bound) == "too many loads, though 90.0 % hit L1: keep values in registers");
  CHECK(verdict_on(load, bound_by(Resource::dram)) == "fine: 90.0 % L1 hits");
  SiteResult broadcast = load;
  broadcast.bytes_used = 10 * 4;
  broadcast.sectors_per_request = 1;
  CHECK(verdict_on(broadcast, bound) ==
        "too many loads, though 90.0 % hit L1: keep values in registers, or load several at once");

  SiteResult shared = test::site(2, 1, 1, "tile[i]", "tile");
  shared.executions = 5;
  shared.active_lanes = 32;
  shared.bank_conflicts = 0;
  shared.time = test::site_time(1, 0.5, {{Resource::shared_banks, 0.5}});
  CHECK(verdict_on(shared, bound_by(Resource::shared_banks)) ==
        "too many loads, though without bank conflicts: keep values in registers");
  shared.site.kind = AccessKind::store;
  CHECK(verdict_on(shared, bound_by(Resource::shared_banks)) ==
        "too many accesses, though without bank conflicts: keep values in registers");
  shared.time = test::site_time(1, 0.5, {{Resource::shared_banks, 0.1}});
  CHECK(verdict_on(shared, bound_by(Resource::shared_banks)) == "fine: hardly any bank conflicts");
}

TEST_CASE("a pointer chase is chained where latency bounds the kernel") {
  SiteResult chase = timed(AccessKind::load, 30, {});
  chase.site.depends_on = {chase.site.id};
  CHECK(verdict_on(chase, bound_by(std::nullopt, {chase})) ==
        "chained: each load gets its address from the one before, so none overlap");
  CHECK(verdict_on(chase, bound_by(Resource::dram, {chase})) == "fine: 90.0 % L1 hits");
}

TEST_CASE("different addresses in constant memory are served one after the other") {
  SiteResult site = test::site(1, 1, 1, "table[i]", "table");
  site.executions = 10;
  site.active_lanes = 32;
  site.constant_addresses = 1;
  CHECK(findings_on(site, {}).empty());
  site.constant_addresses = 32;
  const std::vector<Finding> findings = findings_on(site, {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == Rule::divergent_constants);
  CHECK(findings[0].text == "divergent constant reads: 32.0 addresses per request, one after the other");
}

TEST_CASE("spilled registers ask for more registers, where a thread can have more") {
  SiteResult spill = coalesced(0.9, 0.5);
  spill.site.space = Space::local;
  spill.site.object.clear();
  spill.site.expression = spilled_registers;
  KernelResult kernel;
  CHECK(verdict_on(spill, kernel) ==
        "spills: the registers of a thread do not suffice: raise the register limit (__launch_bounds__, "
        "-maxrregcount), or keep fewer values alive at once");
  kernel.compiled.emplace().registers = 255;
  CHECK(verdict_on(spill, kernel) ==
        "spills: the 255 registers of a thread do not suffice: keep fewer values alive at once");
  CHECK(findings_on(spill, kernel).front().rule == Rule::spills);
  spill.site.object = "spilled"; // the user's
  CHECK(findings_on(spill, kernel).empty());
}

TEST_CASE("a barrier is uneven where warps wait there for a notable part of their time") {
  SiteResult barrier = test::site(1, 1, 1, "__syncthreads()", "");
  barrier.site.kind = AccessKind::barrier;
  barrier.site.space = Space::generic;
  barrier.executions = 10;
  barrier.active_lanes = 8; // a block's last warp may be small
  CHECK(verdict_on(barrier, {}) == "nothing notable was observed");
  barrier.time = test::site_time(30, 0.5, {});
  barrier.time->waited_share = 0.049;
  CHECK(findings_on(barrier, {}).empty());
  CHECK(verdict_on(barrier, {}) == "fine: its warps arrive together");
  barrier.time->waited_share = 0.05;
  const std::vector<Finding> findings = findings_on(barrier, {});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == Rule::uneven_arrival);
  CHECK(findings[0].text == "its warps arrive unevenly: 5.0 % of the warps' time is spent waiting here");
  const KernelResult kernel = bound_by(std::nullopt, {barrier});
  CHECK(time_verdict_on(barrier, kernel) == "warps wait 30 cycles per execution at it, 100 % of all waiting");
}
