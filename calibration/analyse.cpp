#include "calibration/analyse.h"

namespace warplens::calibration {

Expected<Findings> analyse(const Curves& curves) {
  TRY_LET(levels, fit_levels(curves.chase));
  if (levels->levels.size() < 2)
    return fail(
        "the pointer chase shows one cache only; it has to reach from within the L1 to beyond the L2");
  Findings findings;
  const double l1 = levels->hit_cycles, l2 = levels->levels[0].beyond_cycles,
               memory = levels->levels.back().beyond_cycles;
  findings.line_bytes = find_line(curves.strides);
  findings.l1_sector_bytes = find_fetch(curves.touch_l1, l1, l2);
  findings.l2_fetch_bytes = find_fetch(curves.touch_l2, l2, memory);
  if (findings.l2_fetch_bytes)
    findings.prefetches = find_prefetch(curves.touch_l2, *findings.l2_fetch_bytes, l2, memory);
  findings.distances = find_distances(curves.distance);
  findings.policies = find_policies(curves.policies);
  findings.rows = find_rows(curves.bits);
  findings.batches = find_batches(curves.batches);
  findings.levels = std::move(*levels);
  return findings;
}

} // namespace warplens::calibration
