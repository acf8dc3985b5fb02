// Constant memory in one trial: a cache in each SM, and behind it one for each group of SMs.
#pragma once

#include "model/cache/read_only_cache.h"
#include "model/replay/trial.h"
#include "model/snapshot/snapshot.h"

#include <span>
#include <vector>

namespace warplens::model {

/// An SM's accesses look up its own cache when it issues them, and that of its group in the order in which
/// the requests of all SMs reach the L2. What misses there too goes to the L2, as whole lines of the group's
/// cache.
class ConstantCaches {
public:
  /// The SMs of a group are assumed to have consecutive numbers.
  ConstantCaches(const Gpu& gpu, std::size_t sites)
      : group_sms_(gpu.constant.group.sms), site_counters_(sites) {
    const Gpu::Constant& own = gpu.constant;
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      own_.emplace_back(own.bytes, own.line_bytes, own.ways);
    for (std::uint32_t first = 0; first < gpu.sms; first += group_sms_)
      groups_.emplace_back(own.group.bytes, own.group.line_bytes, own.group.ways);
  }

  /// Looks up the transactions of an access to constant memory, one for each address, in the cache of the SM
  /// (by its number on the GPU). Calls `on_miss(line, sectors)` for each line of that cache that misses.
  template <class OnMiss>
  void load(std::uint32_t sm, std::uint32_t site, std::span<const Transaction> transactions,
            OnMiss&& on_miss) {
    for (const Transaction& transaction : transactions)
      site_counters_[site].own += own_[sm].load(transaction.line, transaction.sectors, [&](unsigned sectors) {
        on_miss(transaction.line, sectors);
      });
  }

  /// Looks up a line that missed in the SM, in the cache of its group, and returns whether it hits. On a miss
  /// it calls `on_miss(line)` for each line to be fetched.
  template <class OnMiss>
  bool load_from_group(std::uint32_t group, std::uint32_t site, std::uint32_t line, OnMiss&& on_miss) {
    const ReadOnlyCache& cache = groups_[group];
    const Lookups found = cache.load(line, 1, [&](unsigned) { cache.each_line_with(line, on_miss); });
    site_counters_[site].group += found;
    return found.hits != 0;
  }
  std::uint32_t group_of(std::uint32_t sm) const { return sm / group_sms_; }
  std::size_t lines_of_group() const { return groups_.front().lines_at_once(); }

  /// Adds the lookups to the trial's counts.
  void count(TrialCounts& counts) const {
    for (std::size_t site = 0; site < site_counters_.size(); ++site) {
      counts.sites[site].constant = site_counters_[site].own;
      counts.constant_reads += site_counters_[site].own;
      counts.constant_group_reads += site_counters_[site].group;
    }
  }

private:
  struct SiteCounters {
    Lookups own, group;
  };
  std::uint32_t group_sms_;
  std::vector<ReadOnlyCache> own_, groups_;
  std::vector<SiteCounters> site_counters_; ///< in the order of Snapshot::sites
};

} // namespace warplens::model
