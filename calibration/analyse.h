// Raw curves → what they say of a GPU's memory hierarchy. Everything but the levels is absent where its curve
// is not there or says nothing clear.
#pragma once

#include "calibration/curves.h"
#include "calibration/fit_levels.h"
#include "support/expected.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace warplens::calibration {

/// How long a load takes by where it is served; far: in the L2's other partition.
struct Distances {
  double near_cycles = 0, far_cycles = 0;
  double far_share = 0;      ///< of all loads of lines that nobody near had loaded
  bool keeps_copies = false; ///< a second load of a far line is near
};

struct Policies {
  bool l1_allocates_stores = false; ///< a store brings its line into the L1
  bool l1_keeps_stored = false;     ///< a store leaves a line that is there readable, with the new value
  bool l2_allocates_stores = false;
  bool inclusive = false;  ///< what the L2 loses, the L1 loses too
  bool fills_both = false; ///< what a load brings into the L1 is in the L2 as well
};

/// Main memory's rows, by the one-bit algorithm: two loads whose addresses differ in one bit, nothing else
/// under way.
struct Rows {
  double hit_cycles = 0, miss_cycles = 0, conflict_cycles = 0; ///< the second load's, by what its bit changes
  std::vector<unsigned> column_bits, bank_bits, row_bits; ///< of a byte's address; a bank's or a channel's
};

/// A batch of memory requests: `requests` lines by each of `sms` SMs, all at once.
struct Batch {
  unsigned sms = 0, requests = 0;
  double cycles = 0; ///< until an SM has all of its own; the median
};

struct Findings {
  Levels levels;
  std::optional<std::uint32_t> line_bytes, l1_sector_bytes; ///< a tag's; what a miss in the L1 brings in
  std::optional<std::uint32_t> l2_fetch_bytes;              ///< what a miss in the L2 brings in
  std::optional<bool> prefetches;                           ///< more than that, further on
  std::optional<Distances> distances;
  std::optional<Policies> policies;
  std::optional<Rows> rows;
  std::vector<Batch> batches; ///< by SMs, then requests
};

Expected<Findings> analyse(const Curves& curves);

// The parts, one file each.
std::optional<std::uint32_t> find_line(const std::vector<Sample>& strides);
/// The least offset at which the second load is served like one that nothing came before; `hit` and `miss`
/// are the latencies of the two kinds.
std::optional<std::uint32_t> find_fetch(const std::vector<Sample>& touch, double hit, double miss);
std::optional<bool> find_prefetch(const std::vector<Sample>& touch, std::uint32_t fetch, double hit,
                                  double miss);
std::optional<Distances> find_distances(const std::vector<Sample>& distance);
std::optional<Policies> find_policies(const std::map<std::string, double>& policies);
std::optional<Rows> find_rows(const std::vector<Sample>& bits);
std::vector<Batch> find_batches(const std::vector<Sample>& batches);

} // namespace warplens::calibration
