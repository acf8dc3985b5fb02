// Kernels beside each other, on small machines whose answers follow from what they share.
#include "model/clock/clocked_trial.h"
#include "model/clock/corun_trial.h"
#include "model/corun.h"
#include "model/gpu/known_times.h"
#include "model/replay/observers/kernels_over_time.h"
#include "test/catch.h"
#include "test/model/made_trace.h"

#include <array>
#include <numeric>

using namespace warplens;
using namespace warplens::model;
using namespace warplens::test;

namespace {

constexpr std::uint64_t first_line_address = 1u << 21;

/// Blocks of one warp, each of which loads `loads` lines that no other one loads, one after the other.
MadeTrace loads_of_lines(std::uint64_t blocks, unsigned loads, std::uint64_t first = first_line_address) {
  MadeTrace trace(blocks, 32);
  const std::uint64_t site = trace.site();
  trace.site_of(site).depends_on = {site};
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (unsigned load = 0; load < loads; ++load)
      trace.access(block, 0, site, 4,
                   [&](unsigned lane) { return first + 128 * (block * loads + load) + 4 * lane; });
  return trace;
}

Snapshot decoded(const MadeTrace& trace) {
  return *trace.decode({}, Accesses::all);
}

JoinedSnapshot joined(std::initializer_list<const Snapshot*> snapshots, bool share_memory) {
  const std::vector<const Snapshot*> list(snapshots);
  auto result = join(list, share_memory);
  REQUIRE(result);
  return std::move(*result);
}

} // namespace

TEST_CASE("Joined launches have memory of their own, or the same") {
  const Snapshot one = decoded(loads_of_lines(2, 3)), other = decoded(loads_of_lines(3, 1));
  const JoinedSnapshot apart = joined({&one, &other}, false), same = joined({&one, &other}, true);
  REQUIRE(apart.launches.size() == 2);
  CHECK(apart.launches[1].first_block == 2);
  CHECK(apart.launches[1].blocks == 3);
  CHECK(apart.launches[1].first_site == 1);
  CHECK(apart.snapshot.pages.size() == 2);
  CHECK(same.snapshot.pages.size() == 1);
  const auto first_line = [](const JoinedSnapshot& of, std::size_t warp) {
    return of.snapshot.warps[warp].transactions[0].line;
  };
  CHECK(first_line(apart, 0) != first_line(apart, 2));
  CHECK(first_line(same, 0) == first_line(same, 2));
  CHECK(apart.snapshot.warps[2].accesses[0].site == 1);
  CHECK(apart.snapshot.warp_accesses == one.warp_accesses + other.warp_accesses);
}

TEST_CASE("Kernels that share nothing are as fast as alone") {
  const Gpu v100 = gpu("v100");
  const Snapshot one = decoded(loads_of_lines(4, 20));
  const JoinedSnapshot alone = joined({&one}, false), both = joined({&one, &one}, false);
  const SmShare block{1, 1, 0, 0};
  const CorunKernel everywhere{block, 0, v100.sms};
  const std::array<CorunKernel, 2> halves{CorunKernel{block, 0, 40}, CorunKernel{block, 40, 40}};
  const CorunCounts solo = run_corun_trial(alone, v100, std::span(&everywhere, 1), {}, Random(1, 0, 0));
  const CorunCounts pair = run_corun_trial(both, v100, halves, {}, Random(1, 0, 0));
  REQUIRE(pair.cycles.size() == 2);
  for (const Cycle cycles : pair.cycles)
    CHECK(double(cycles) == Approx(double(solo.cycles[0])).epsilon(0.02));
  CHECK(solo.counts.l1_reads.all == 4 * 20 * 4);
}

TEST_CASE("Without a second place, kernels run one after the other") {
  const Gpu v100 = gpu("v100");
  const Snapshot one = decoded(loads_of_lines(1, 50));
  const JoinedSnapshot both = joined({&one, &one}, false);
  const SmShare whole{v100.max_threads_per_sm / 32, 1, 0, 0}; // all warps of an SM
  const std::array<CorunKernel, 2> same_sm{CorunKernel{whole, 3, 1}, CorunKernel{whole, 3, 1}};
  const CorunCounts counts = run_corun_trial(both, v100, same_sm, {}, Random(1, 0, 0));
  CHECK(counts.first_block[0] == 0);
  CHECK(counts.first_block[1] >= counts.cycles[0]);
  CHECK(double(counts.cycles[1]) > 1.9 * double(counts.cycles[0]));
}

TEST_CASE("Kernels are not compared by a time that is not known") {
  const auto refused = corun({}, gpu("c2050"), {}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("is not known on c2050, because no compiler") != std::string::npos);
  CHECK(why_times_are_unknown(gpu("k80")).empty()); // measured on a K40, with its error
}

TEST_CASE("A kernel that ends first runs again until the other one has ended") {
  const Gpu v100 = gpu("v100");
  const Snapshot brief = decoded(loads_of_lines(1, 5)), longer = decoded(loads_of_lines(1, 100));
  const JoinedSnapshot both = joined({&brief, &longer}, false);
  const std::array<CorunKernel, 2> apart{CorunKernel{{1, 1, 0, 0}, 0, 1}, CorunKernel{{1, 1, 0, 0}, 1, 1}};
  const CorunCounts counts = run_corun_trial(both, v100, apart, {}, Random(1, 0, 0));
  CHECK(counts.cycles[0] < counts.cycles[1] / 5);
  const Lookups& of_brief = counts.counts.sites[0].l1;
  CHECK(of_brief.all > 5 * 5 * 4); // more than five laps
  CHECK(counts.counts.sites[1].l1.all == 100 * 4);
}

TEST_CASE("A kernel ends when its last store is there, as where it runs by itself") {
  const Gpu v100 = gpu("v100");
  const auto stores_of_blocks = [](std::uint64_t blocks, std::uint64_t first) {
    MadeTrace trace(blocks, 32);
    const std::uint64_t site = trace.site(AccessKind::store);
    for (std::uint64_t block = 0; block < blocks; ++block)
      trace.access(block, 0, site, 4, [&](unsigned lane) { return first + 128 * block + 4 * lane; });
    return decoded(trace);
  };
  const CorunKernel everywhere{{1, 1, 0, 0}, 0, v100.sms};
  for (const std::uint64_t blocks : {1, 400}) {
    const Snapshot one = stores_of_blocks(blocks, first_line_address);
    const TrialCounts profiled = run_clocked_trial(one, v100, {32, 32, 32 * 1024, "blocks"}, Random(1, 0, 0));
    const JoinedSnapshot alone = joined({&one}, false);
    const CorunCounts solo = run_corun_trial(alone, v100, std::span(&everywhere, 1), {}, Random(1, 0, 0));
    INFO(blocks);
    CHECK(double(solo.cycles[0]) == Approx(double(profiled.time.cycles)).epsilon(blocks == 1 ? 0 : 0.02));
    CHECK(double(solo.cycles[0]) > 0.99 * v100.cycles(v100.l2.latency_ns)); // the stores' way
  }
  // The same beside a kernel that runs on when this one has ended, and with stores of its own.
  const Snapshot one = stores_of_blocks(1, first_line_address), more = stores_of_blocks(4000, 1u << 25);
  const JoinedSnapshot both = joined({&one, &more}, false);
  const std::array<CorunKernel, 2> apart{CorunKernel{{1, 1, 0, 0}, 0, 1}, CorunKernel{{1, 1, 0, 0}, 1, 1}};
  const CorunCounts beside = run_corun_trial(both, v100, apart, {}, Random(1, 0, 0));
  const JoinedSnapshot alone = joined({&one}, false);
  const CorunCounts solo = run_corun_trial(alone, v100, std::span(&everywhere, 1), {}, Random(1, 0, 0));
  CHECK(double(beside.cycles[0]) == Approx(double(solo.cycles[0])).epsilon(0.05));
  CHECK(beside.cycles[1] > 3 * beside.cycles[0]);
}

TEST_CASE("Streams of one memory find each other's lines in the L2") {
  const Gpu v100 = gpu("v100");
  const Snapshot one = decoded(loads_of_lines(40, 20));
  const SmShare block{1, 1, 0, 0};
  const std::array<CorunKernel, 2> halves{CorunKernel{block, 0, 40}, CorunKernel{block, 40, 40}};
  const auto reads = [&](bool share_memory) {
    const JoinedSnapshot both = joined({&one, &one}, share_memory);
    return run_corun_trial(both, v100, halves, {}, Random(1, 0, 0)).counts.dram_read_sectors;
  };
  CHECK(reads(true) == 40 * 20 * 4);
  CHECK(reads(false) >= 2 * 40 * 20 * 4 - 40 * 4);
}

TEST_CASE("Blocks that no SM has room for") {
  const Gpu v100 = gpu("v100");
  const CorunKernel too_large{{65, 1, 0, 0}, 0, v100.sms}, nowhere{{1, 1, 0, 0}, 0, 0};
  CHECK_FALSE(can_run(std::span(&too_large, 1), v100));
  CHECK_FALSE(can_run(std::span(&nowhere, 1), v100));
  const CorunKernel fits{{64, 1, 65536, 98304}, 0, v100.sms};
  CHECK(can_run(std::span(&fits, 1), v100));
}

TEST_CASE("A timeline has the accesses of each kernel until each has ended once") {
  const Gpu v100 = gpu("v100");
  const Snapshot brief = decoded(loads_of_lines(1, 5)), longer = decoded(loads_of_lines(1, 100));
  const JoinedSnapshot both = joined({&brief, &longer}, false);
  const std::array<CorunKernel, 2> apart{CorunKernel{{1, 1, 0, 0}, 0, 1}, CorunKernel{{1, 1, 0, 0}, 1, 1}};
  const CorunCounts counts = run_corun_trial(both, v100, apart, {}, Random(1, 0, 0));
  const auto timeline_until = [&](Cycle cycles) {
    KernelsOverTime recorder({0, 1}, cycles, 10, v100.ns_per_cycle());
    run_corun_trial(both, v100, apart, {}, Random(1, 0, 0), &recorder);
    return std::move(recorder).timeline();
  };
  const auto sum = [](const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  };
  const CorunTimeline whole = timeline_until(counts.cycles[1]);
  REQUIRE(whole.edges.size() == 11);
  CHECK(whole.edges.back() == counts.cycles[1]);
  CHECK(sum(whole.kernels[0].requests) >= 5 * 5); // it runs again and again
  CHECK(sum(whole.kernels[1].requests) == 100);
  CHECK(sum(whole.kernels[1].l1_all) == 100 * 4);
  CHECK(sum(whole.l2_all) >= (5 + 100) * 4);
  const CorunTimeline first = timeline_until(counts.cycles[0]);
  CHECK(sum(first.kernels[0].requests) == 5);
  CHECK(sum(first.kernels[1].requests) < 20);
}

TEST_CASE("Kernels that take turns share an SM's issue alike, whichever is older") {
  const Gpu v100 = gpu("v100");
  const Snapshot one = decoded(loads_of_lines(8, 40));
  const JoinedSnapshot both = joined({&one, &one}, false);
  const CorunKernel on_one_sm{{1, 1, 0, 0}, 0, 1, 8};
  const std::array<CorunKernel, 2> same_sm{on_one_sm, on_one_sm};
  Gpu greedy = v100;
  greedy.machines.clear();
  greedy.issue.policy = IssuePolicy::greedy_then_oldest;
  const auto apart = [&](const CorunWhatIf& what_if) {
    const CorunCounts counts = run_corun_trial(both, greedy, same_sm, what_if, Random(1, 0, 0));
    return double(counts.cycles[1]) / double(counts.cycles[0]);
  };
  CHECK(apart({.kernels_in_turn = true}) == Approx(1).epsilon(0.02));
  CHECK(apart({}) >= apart({.kernels_in_turn = true}) - 0.02);
}
