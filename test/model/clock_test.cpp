// Trials on a clock against the reference that steps every cycle.
#include "model/clock/clocked_trial.h"
#include "test/catch.h"
#include "test/model/made_trace.h"
#include "test/model/reference_clock.h"

namespace warplens::test {
namespace {

/// Makes accesses of every kind, to few lines, so that they meet.
model::Snapshot anything(model::Random& random) {
  model::Snapshot made;
  made.sites.resize(4);
  made.byte_masks = {{~std::uint64_t{0}, ~std::uint64_t{0}}, {0xff, 0xff00}};
  const std::uint32_t blocks = 1 + random.below(7), lines = 1 + random.below(200);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t warps = 1 + random.below(4);
    made.blocks.push_back({block, std::uint32_t(made.warps.size()), warps});
    for (std::uint32_t number = 0; number < warps; ++number) {
      model::Warp& warp = made.warps.emplace_back();
      for (std::uint32_t i = 0, accesses = 1 + random.below(9); i < accesses; ++i) {
        model::Access access;
        access.site = random.below(4);
        access.kind = random.below(2) == 0 ? AccessKind::load : AccessKind(random.below(4));
        access.skips_l1 = access.kind == AccessKind::atomic || random.below(9) == 0;
        access.is_awaited = access.kind == AccessKind::load || access.kind == AccessKind::update ||
                            (access.kind == AccessKind::atomic && random.below(2) == 0);
        access.starts_bulk = i == 0 || random.below(3) == 0;
        if (random.below(6) == 0)
          access.cache = model::FirstCache::shared;
        else
          access.transactions = std::uint8_t(1 + random.below(random.below(4) == 0 ? 12 : 2));
        access.passes = std::uint8_t(std::max(1 + random.below(5), (access.transactions + 1u) / 2));
        warp.bulks += access.starts_bulk;
        for (unsigned t = 0; t < access.transactions; ++t)
          warp.transactions.push_back({random.below(lines), 1 + random.below(15),
                                       access.kind == AccessKind::store ? random.below(2) : 0});
        warp.accesses.push_back(access);
      }
    }
  }
  finalize(made);
  return made;
}

/// Changes the GPU's figures at random, to small caches and few resources.
model::Gpu any_gpu(model::Random& random) {
  model::Gpu gpu = *model::load_gpu("a100", WARPLENS_GPU_FOLDER);
  gpu.sms = 1 + random.below(4);
  gpu.l1.early_usable = 0;
  gpu.l1.ways = 1 + random.below(4);
  gpu.l1.sectored = random.below(3) != 0;
  gpu.l1.stores = model::L1Stores(random.below(3));
  gpu.l2.partitions = 1 + random.below(2);
  gpu.l2_bytes = 1024u << random.below(5);
  gpu.l2.ways = 2;
  gpu.l2.usable = 1;
  gpu.l2.slices = 2u << random.below(3);
  gpu.l2.latency_ns = 20 + random.below(100);
  gpu.l2.hop_ns = 4 + random.below(60);
  gpu.l2.hop_bytes_per_ns = 20 + random.below(100);
  gpu.l2.bytes_per_ns = 40 + random.below(300);
  gpu.l2.atomics_per_ns = 1 + random.below(9);
  gpu.l2.stores = model::L2Stores(random.below(2));
  gpu.l2.partial_writes = gpu.l2.stores == model::L2Stores::allocate ? model::PartialWrites(random.below(4))
                                                                     : model::PartialWrites::whole;
  gpu.l2.fetch_bytes = 32u << random.below(2);
  gpu.dram.local_latency_ns = gpu.l2.latency_ns + gpu.dram.activate_ns + gpu.dram.burst_ns + random.below(90);
  gpu.dram.channels = 1 + random.below(3);
  gpu.dram.banks = 1u << random.below(3);
  gpu.issue.schedulers = 1 + random.below(4);
  gpu.issue.policy = model::IssuePolicy(random.below(model::issue_policies));
  gpu.issue.cycles_per_access = 1 + random.below(12);
  gpu.lsu.queue_entries = 1 + random.below(6);
  gpu.lsu.scheduler_cycles = random.below(6);
  gpu.lsu.cycles = 1 + random.below(2);
  gpu.lsu.misses = random.below(3) == 0 ? 1 + random.below(8) : 0;
  gpu.lsu.l2_bytes_per_cycle = 8 << random.below(4);
  gpu.lanes.tags_per_pass = 2;
  return gpu;
}

TEST_CASE("A trial on a clock equals the reference, whatever the machine and its policy") {
  model::Random random(7, 0, 0);
  for (int round = 0; round < 1500; ++round) {
    const model::Snapshot snapshot = anything(random);
    const model::Gpu gpu = any_gpu(random);
    const model::Occupancy occupancy{1 + random.below(3), 0, 512u << random.below(3), "warps"};
    const model::Random of_trial(1, 0, std::uint32_t(round));
    model::TrialCounts slow = ReferenceClock(snapshot, gpu, occupancy, of_trial).run();
    model::TrialCounts fast = model::run_clocked_trial(snapshot, gpu, occupancy, of_trial);
    INFO("round " << round << ": " << gpu.sms << " SMs, " << gpu.l2.partitions << " partitions, policy "
                  << int(gpu.issue.policy) << ", " << gpu.lsu.misses << " misses, stores "
                  << int(gpu.l2.stores));
    REQUIRE(fast.time.cycles == slow.time.cycles);
    REQUIRE(fast.l1_reads == slow.l1_reads);
    REQUIRE(fast.l2_reads == slow.l2_reads);
    REQUIRE(fast.l2_writes == slow.l2_writes);
    REQUIRE(fast.dram_read_sectors == slow.dram_read_sectors);
    REQUIRE(fast.dram_written_sectors == slow.dram_written_sectors);
    for (std::size_t site = 0; site < snapshot.sites.size(); ++site) {
      const auto &a = fast.sites[site], &b = slow.sites[site];
      REQUIRE(a.l1 == b.l1);
      REQUIRE(a.l2 == b.l2);
      for (std::size_t level = 0; level < model::levels; ++level)
        REQUIRE(std::abs(a.latency_ns[level] - b.latency_ns[level]) < 1e-6 * (1 + b.latency_ns[level]));
      REQUIRE(a.awaited == b.awaited);
      REQUIRE(a.held_up == b.held_up);
      REQUIRE(a.passes == b.passes);
    }
  }
}

} // namespace
} // namespace warplens::test
