// The trial's loops, compiled for any processor and for newer ones, give the same bits.
#include "made_trace.h"
#include "model/replay/trial_run.h"
#include "test/thorough.h"

using namespace warplens;

namespace {

/// Makes loads, stores, updates and atomics of many lines, some of them often.
model::Snapshot anything() {
  model::Snapshot made;
  Random random(3, 0, 0);
  made.sites.resize(6);
  for (std::uint32_t block = 0; block < 300; ++block) {
    made.blocks.push_back({block, block * 4, 4});
    for (std::uint32_t number = 0; number < 4; ++number) {
      model::Warp& warp = made.warps.emplace_back();
      warp.block = block;
      warp.warp = number;
      for (std::uint32_t i = 0, accesses = 20 + random.below(40); i < accesses; ++i) {
        model::Access access;
        access.site = random.below(6);
        access.kind = AccessKind(access.site % 4);
        access.skips_l1 = access.kind == AccessKind::atomic || random.below(9) == 0;
        access.starts_bulk = i == 0 || random.below(3) == 0;
        access.transactions = std::uint8_t(1 + random.below(32));
        warp.bulks += access.starts_bulk;
        for (unsigned t = 0; t < access.transactions; ++t)
          warp.transactions.push_back(
              {random.below(4) != 0 ? random.below(60'000) : random.below(500), 1 + random.below(15)});
        made.transactions += access.transactions;
        warp.accesses.push_back(access);
      }
    }
  }
  made.blocks_seen = 300;
  finalize(made);
  return made;
}

template <class Instructions>
model::TrialCounts run(const model::Snapshot& snapshot, const model::Gpu& gpu, const model::L2* before) {
  Random random(1, 0, 3);
  model::NoObserver no_observer;
  const model::Occupancy occupancy{4, 16, gpu.l1.with_shared_bytes / 2, "warps"};
  return model::Trial<model::NoObserver, Instructions>(snapshot, gpu, occupancy, random, no_observer, before)
      .run();
}

void check_same(const model::TrialCounts& a, const model::TrialCounts& b) {
  CHECK(a.l1_reads == b.l1_reads);
  CHECK(a.l2_reads == b.l2_reads);
  CHECK(a.l2_writes == b.l2_writes);
  CHECK(a.dram_read_sectors == b.dram_read_sectors);
  CHECK(a.dram_written_sectors == b.dram_written_sectors);
  CHECK(a.dram_reads == b.dram_reads);
  CHECK(a.dram_latency_ns == b.dram_latency_ns);
  REQUIRE(a.sites.size() == b.sites.size());
  for (std::size_t i = 0; i < a.sites.size(); ++i) {
    CHECK(a.sites[i].l1 == b.sites[i].l1);
    CHECK(a.sites[i].l2 == b.sites[i].l2);
    CHECK(a.sites[i].latency_ns == b.sites[i].latency_ns);
  }
}

/// An observer that only counts.
struct CountingObserver final : model::TrialObserver {
  std::uint64_t lookups = 0, to_memory = 0;
  void looked_up(bool, std::uint32_t, unsigned, const model::L2Outcome&, model::Cycle) override { ++lookups; }
  void used_memory(const model::DramUse&, std::uint32_t, model::Cycle, model::Cycle) override { ++to_memory; }
};

} // namespace

TEST_CASE("A trial is the same for any processor, and with and without an observer, cold or warm") {
  const model::Snapshot snapshot = anything();
  const auto all = model::list_gpus(WARPLENS_GPU_FOLDER);
  REQUIRE(all);
  const std::vector<std::string> of_each_kind{"c2050", "k80", "v100", "a100", "rtx4090", "h100-sxm"};
  for (const std::string& name : test::is_thorough() ? *all : of_each_kind) {
    INFO(name);
    model::Gpu gpu = test::gpu(name);
    const model::TrialCounts cold = run<PlainInstructions>(snapshot, gpu, nullptr);
    model::L2 some(gpu);
    for (std::uint32_t line = 0; line < 60'000; line += 7)
      some.load(line, whole_line, [](std::uint32_t, unsigned, unsigned) {});
    for (const model::L2* before :
         {static_cast<const model::L2*>(nullptr), static_cast<const model::L2*>(&some)}) {
      const model::TrialCounts plain = run<PlainInstructions>(snapshot, gpu, before);
      CHECK(plain.l2_reads.hits > 1000);
      CHECK(plain.dram_reads > 1000);
      CHECK((plain.l2_reads.hits > cold.l2_reads.hits) == (before != nullptr));
      if (Avx2Instructions::available())
        check_same(plain, run<Avx2Instructions>(snapshot, gpu, before));
      CountingObserver observer;
      const model::Occupancy occupancy{4, 16, gpu.l1.with_shared_bytes / 2, "warps"};
      const Random random(1, 0, 3);
      check_same(plain, model::run_trial(snapshot, gpu, occupancy, random, observer, before));
      check_same(plain, model::run_trial(snapshot, gpu, occupancy, random, before));
      CHECK(observer.lookups > 1000);
      CHECK(observer.to_memory >= plain.dram_reads);
    }
  }
}
