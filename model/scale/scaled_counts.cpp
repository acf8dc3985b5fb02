#include "model/scale/scaled_counts.h"

#include <cmath>

namespace warplens::model {

void scale_counts(TrialCounts& counts, double factor) {
  const auto whole = [factor](std::uint64_t& count) {
    count = std::uint64_t(std::llround(double(count) * factor));
  };
  const auto lookups = [&](auto&... all) { ((whole(all.hits), whole(all.all)), ...); };
  lookups(counts.l1_reads, counts.l2_reads, counts.l2_writes, counts.constant_reads,
          counts.constant_group_reads);
  for (std::uint64_t* const count : {&counts.l2_near_hits, &counts.crossed_sectors, &counts.dram_read_sectors,
                                     &counts.dram_written_sectors, &counts.dram_written_before_sectors,
                                     &counts.dram_reads, &counts.row_activations, &counts.time.instructions})
    whole(*count);
  for (double* const sum : {&counts.dram_latency_ns, &counts.time.warp_cycles, &counts.time.writing_before})
    *sum *= factor;
  for (TrialCounts::Site& site : counts.sites) {
    lookups(site.l1, site.l2, site.l2_reads, site.l2_writes, site.constant);
    for (double& latency : site.latency_ns)
      latency *= factor;
    site.awaited *= factor;
    site.throttled_cycles *= factor;
    for (double& occupied : site.occupied)
      occupied *= factor;
  }
  for (StateCounts& state : counts.states) {
    for (std::uint64_t& cycles : state.cycles)
      whole(cycles);
    whole(state.awaited);
  }
}

} // namespace warplens::model
