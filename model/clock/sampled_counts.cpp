#include "model/clock/sampled_counts.h"

#include "model/counts/scaled_counts.h"
#include "model/snapshot/scaled.h"

#include <utility>

namespace warplens::model {
namespace {

void add(TrialCounts::Site& to, const TrialCounts::Site& from) {
  for (const auto of : {&TrialCounts::Site::l1, &TrialCounts::Site::l2, &TrialCounts::Site::l2_reads,
                        &TrialCounts::Site::l2_writes, &TrialCounts::Site::constant})
    to.*of += from.*of;
  for (std::size_t level = 0; level < levels; ++level)
    to.latency_ns[level] += from.latency_ns[level];
  to.awaited += from.awaited;
  to.throttled_cycles += from.throttled_cycles;
  for (std::size_t resource = 0; resource < resource_count; ++resource)
    to.occupied[resource] += from.occupied[resource];
}

/// Sums over sites, as far as the traffic behind the L2 follows from them.
struct Sums {
  Lookups l1, l2_reads, l2_writes, constant;
  explicit Sums(const TrialCounts& counts) {
    for (const TrialCounts::Site& site : counts.sites) {
      l1 += site.l1;
      l2_reads += site.l2_reads;
      l2_writes += site.l2_writes;
      constant += site.constant;
    }
  }
};

double ratio(std::uint64_t after, std::uint64_t before) {
  return before == 0 ? 1 : double(after) / double(before);
}

} // namespace

void add_left_out(TrialCounts& counts, const Snapshot& snapshot, double longer) {
  const Sums before(counts);
  for (std::size_t i = 0; i < snapshot.sites.size(); ++i)
    if (const SiteSummary& site = snapshot.sites[i]; site.measures != SiteSummary::not_measured) {
      TrialCounts::Site measured = std::exchange(counts.sites[i], {});
      scale_site(measured, 1 + site.left_out);
      add(counts.sites[site.measures], measured);
    }
  const Sums all(counts);
  const auto scale = [](Lookups& lookups, const Lookups& after, const Lookups& site_sum) {
    lookups = {scaled(lookups.hits, ratio(after.hits, site_sum.hits)),
               scaled(lookups.all, ratio(after.all, site_sum.all))};
  };
  scale(counts.l1_reads, all.l1, before.l1);
  scale(counts.l2_reads, all.l2_reads, before.l2_reads);
  scale(counts.l2_writes, all.l2_writes, before.l2_writes);
  scale(counts.constant_reads, all.constant, before.constant);
  scale(counts.constant_group_reads, all.constant, before.constant);
  const auto misses = [](const Lookups& lookups) { return lookups.all - lookups.hits; };
  const double reads = ratio(misses(all.l2_reads), misses(before.l2_reads)),
               requests =
                   ratio(all.l2_reads.all + all.l2_writes.all, before.l2_reads.all + before.l2_writes.all),
               writes = ratio(all.l2_writes.all, before.l2_writes.all);
  for (std::uint64_t* const count : {&counts.dram_read_sectors, &counts.dram_reads, &counts.row_activations})
    *count = scaled(*count, reads);
  counts.dram_latency_ns *= reads;
  for (std::uint64_t* const count : {&counts.l2_near_hits, &counts.crossed_sectors})
    *count = scaled(*count, requests);
  counts.dram_written_sectors = scaled(counts.dram_written_sectors, writes);

  double replayed = 0, states = 0;
  counts.time.instructions = 0;
  for (std::size_t place = 0; place < counts.states.size(); ++place) {
    StateCounts& at = counts.states[place];
    const double factor =
        place < snapshot.executions_of_replayed.size() ? snapshot.executions_of_replayed[place] : 1;
    for (std::uint64_t& cycles : at.cycles) {
      replayed += double(cycles);
      cycles = scaled(cycles, factor);
      states += double(cycles);
    }
    at.awaited = scaled(at.awaited, factor);
    counts.time.instructions += at.issued();
  }
  counts.time.warp_cycles *= replayed == 0 ? 1 : states / replayed;
  for (ByResource* const busy : {&counts.time.busy, &counts.time.mean_busy})
    for (double& cycles : *busy)
      cycles *= longer;
}

} // namespace warplens::model
