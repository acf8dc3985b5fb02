// Derives the properties of a GPU's memory hierarchy from raw curves. Everything but the levels is absent if
// its curve is missing or inconclusive.
#pragma once

#include "calibration/curves.h"
#include "calibration/fit_levels.h"
#include "support/expected.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace warplens::calibration {

/// The latency of a load by the place that serves it; far: in the L2's other partition.
struct Distances {
  double near_cycles = 0, far_cycles = 0;
  double far_share = 0;        ///< share of all loads of lines that no near SM had loaded
  bool keeps_replicas = false; ///< a second load of a far line is near
};

struct Policies {
  bool l1_allocates_stores = false; ///< a store brings its line into the L1
  bool l1_keeps_stored = false;     ///< a store leaves a resident line readable, with the new value
  bool l2_allocates_stores = false;
  bool inclusive = false;  ///< a line evicted from the L2 is evicted from the L1, too
  bool fills_both = false; ///< a line that a load brings into the L1 is also in the L2
};

/// Main memory's rows, by the one-bit algorithm: two loads whose addresses differ in one bit, nothing else
/// under way.
struct Rows {
  double hit_cycles = 0, miss_cycles = 0,
         conflict_cycles = 0; ///< the second load's latency, by the kind of address bit that differs
  std::vector<unsigned> column_bits, bank_bits,
      row_bits; ///< bits of a byte's address; a bank bit may be a channel's
};

/// A batch of memory requests: `requests` lines by each of `sms` SMs, all at once.
struct Batch {
  unsigned sms = 0, requests = 0;
  double cycles = 0; ///< the median time until an SM has all of its own
};

struct Findings {
  Levels levels;
  std::optional<std::uint32_t> line_bytes,
      l1_sector_bytes; ///< the size of a tag's line; the size that a miss in the L1 fetches
  std::optional<std::uint32_t> l2_fetch_bytes; ///< the size that a miss in the L2 fetches
  std::optional<bool> prefetches;              ///< a miss fetches more than that, further on
  std::optional<Distances> distances;
  std::optional<Policies> policies;
  std::optional<Rows> rows;
  std::vector<Batch> batches; ///< ordered by SMs, then requests
};

Expected<Findings> analyse(const Curves& curves);

// The functions that find one part each, one file each.
std::optional<std::uint32_t> find_line(const std::vector<Sample>& strides);
/// Returns the smallest offset at which the second load is served like one without a predecessor; `hit` and
/// `miss` are the latencies of the two kinds.
std::optional<std::uint32_t> find_fetch(const std::vector<Sample>& touch, double hit, double miss);
std::optional<bool> find_prefetch(const std::vector<Sample>& touch, std::uint32_t fetch, double hit,
                                  double miss);
std::optional<Distances> find_distances(const std::vector<Sample>& distance);
std::optional<Policies> find_policies(const std::map<std::string, double>& policies);
std::optional<Rows> find_rows(const std::vector<Sample>& bits);
std::vector<Batch> find_batches(const std::vector<Sample>& batches);

} // namespace warplens::calibration
