#include "model/counts/scaled_counts.h"

#include "model/snapshot/scaled.h"

namespace warplens::model {

namespace {

void scale(std::uint64_t& count, double factor) {
  count = scaled(count, factor);
}
void scale(Lookups& lookups, double factor) {
  scale(lookups.hits, factor);
  scale(lookups.all, factor);
}

} // namespace

void scale_site(TrialCounts::Site& site, double factor) {
  for (Lookups* const lookups : {&site.l1, &site.l2, &site.l2_reads, &site.l2_writes, &site.constant})
    scale(*lookups, factor);
  for (double& latency : site.latency_ns)
    latency *= factor;
  site.awaited *= factor;
  site.throttled_cycles *= factor;
  for (double& occupied : site.occupied)
    occupied *= factor;
}

void scale_counts(TrialCounts& counts, double factor) {
  for (Lookups* const lookups : {&counts.l1_reads, &counts.l2_reads, &counts.l2_writes,
                                 &counts.constant_reads, &counts.constant_group_reads})
    scale(*lookups, factor);
  for (std::uint64_t* const count : {&counts.l2_near_hits, &counts.crossed_sectors, &counts.dram_read_sectors,
                                     &counts.dram_written_sectors, &counts.dram_written_before_sectors,
                                     &counts.dram_reads, &counts.row_activations, &counts.time.instructions})
    scale(*count, factor);
  for (double* const sum : {&counts.dram_latency_ns, &counts.time.warp_cycles, &counts.time.writing_before})
    *sum *= factor;
  for (TrialCounts::Site& site : counts.sites)
    scale_site(site, factor);
  for (StateCounts& state : counts.states) {
    for (std::uint64_t& cycles : state.cycles)
      scale(cycles, factor);
    scale(state.awaited, factor);
  }
}

} // namespace warplens::model
