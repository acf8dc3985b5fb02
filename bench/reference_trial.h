// A slow reference for a trial, to compare times with: one random SM issues at each step, and each access is
// served at once by caches that are lists of lines. It supports loads only, as the made snapshots have no
// stores.
#pragma once

#include "model/dram/dram.h"
#include "model/replay/schedule.h"
#include "model/replay/trial.h"
#include "test/model/reference_caches.h"

#include <numeric>

namespace warplens::bench {

class ReferenceTrial {
public:
  ReferenceTrial(const model::Snapshot& snapshot, const model::Gpu& gpu, const model::Occupancy& occupancy,
                 Random random)
      : gpu_(gpu), random_(random), l2_(gpu), dram_(gpu, gpu.sms, random_) {
    counts_.sites.resize(snapshot.sites.size());
    const auto blocks = model::place_blocks(snapshot, gpu, random_);
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      if (!blocks[sm].empty())
        sms_.push_back({model::SmSchedule(snapshot, blocks[sm], occupancy.blocks_per_sm, gpu, random_),
                        test::ReferenceL1(gpu, occupancy.l1_bytes)});
  }

  model::TrialCounts run() {
    std::vector<std::uint32_t> busy(sms_.size());
    std::iota(busy.begin(), busy.end(), 0u);
    while (!busy.empty()) {
      const std::uint32_t chosen = random_.below(std::uint32_t(busy.size()));
      Sm& sm = sms_[busy[chosen]];
      sm.schedule.issue_round(1, [&](const model::Access& access, const model::Transaction* transactions) {
        load(sm, access, transactions);
      });
      if (sm.schedule.transactions_left() == 0)
        busy.erase(busy.begin() + chosen);
    }
    return std::move(counts_);
  }

private:
  struct Sm {
    model::SmSchedule schedule;
    test::ReferenceL1 l1;
  };

  void load(Sm& sm, const model::Access& access, const model::Transaction* transactions) {
    double slowest = gpu_.l1.latency_ns;
    model::Level level = model::Level::l1;
    model::TrialCounts::Site& site = counts_.sites[access.site];
    for (unsigned i = 0; i < access.transactions; ++i) {
      const std::uint32_t line = transactions[i].line;
      const unsigned sectors = transactions[i].sectors;
      const unsigned missing = sm.l1.load(line, sectors);
      count(site.l1, counts_.l1_reads, sectors & ~missing, sectors);
      if (missing == 0)
        continue;
      const auto outcome = l2_.request(test::ReferenceL2::Kind::load, line, missing);
      count(site.l2, counts_.l2_reads, outcome.hits, missing);
      double latency = gpu_.l2.latency_ns + gpu_.mean_hop_ns();
      model::Level served = model::Level::l2;
      if (outcome.fetched != 0) {
        latency = double(dram_.request(line, outcome.fetched).ns);
        served = model::Level::dram;
        counts_.dram_latency_ns += latency;
        counts_.dram_read_sectors += sector_count(outcome.fetched);
        ++counts_.dram_reads;
      }
      if (latency > slowest) {
        slowest = latency;
        level = served;
      }
    }
    site.latency_ns[unsigned(level)] += slowest;
  }

  static void count(model::Lookups& site, model::Lookups& total, unsigned hits, unsigned all) {
    for (model::Lookups* lookups : {&site, &total}) {
      lookups->hits += sector_count(hits);
      lookups->all += sector_count(all);
    }
  }

  const model::Gpu& gpu_;
  Random random_;
  std::vector<Sm> sms_;
  test::ReferenceL2 l2_;
  model::Dram dram_;
  model::TrialCounts counts_;
};

} // namespace warplens::bench
