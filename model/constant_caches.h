// Constant memory in one trial: a cache in each SM, and behind it one for each group of SMs.
#pragma once

#include "model/read_only_cache.h"
#include "model/snapshot.h"
#include "model/trial.h"

#include <span>
#include <vector>

namespace warplens::model {

/// An SM's own cache is asked when the SM issues, its group's in the order in which the requests of all SMs
/// come to the L2. What is not there either goes to the L2, by whole lines of the group's cache.
class ConstantCaches {
public:
  /// Which SMs make up a group is assumed: neighbours by number.
  ConstantCaches(const Gpu& gpu, std::size_t sites) : group_sms_(gpu.constant.group.sms), of_sites_(sites) {
    const Gpu::Constant& own = gpu.constant;
    for (std::uint32_t sm = 0; sm < gpu.sms; ++sm)
      own_.emplace_back(own.bytes, own.line_bytes, own.ways);
    for (std::uint32_t first = 0; first < gpu.sms; first += group_sms_)
      groups_.emplace_back(own.group.bytes, own.group.line_bytes, own.group.ways);
  }

  /// The `transactions` are of an access to constant memory: one address after the other, each looked up in
  /// the cache of the SM (by its number on the GPU). Calls `ask(line, sectors)` for each line of that cache
  /// that is not there.
  template <class Ask>
  void load(std::uint32_t sm, std::uint32_t site, std::span<const Transaction> transactions, Ask&& ask) {
    for (const Transaction& transaction : transactions)
      of_sites_[site].own += own_[sm].load(transaction.line, transaction.sectors,
                                           [&](unsigned sectors) { ask(transaction.line, sectors); });
  }

  /// What was asked for, in the cache of the SM's group: is it there? Calls `ask(line)` for each line to be
  /// fetched if it is not.
  template <class Ask>
  bool load_from_group(std::uint32_t group, std::uint32_t site, std::uint32_t line, Ask&& ask) {
    const ReadOnlyCache& cache = groups_[group];
    const Lookups found = cache.load(line, 1, [&](unsigned) { cache.each_line_with(line, ask); });
    of_sites_[site].group += found;
    return found.hits != 0;
  }
  std::uint32_t group_of(std::uint32_t sm) const { return sm / group_sms_; }
  std::size_t lines_of_group() const { return groups_.front().lines_at_once(); }

  void count(TrialCounts& counts) const {
    for (std::size_t site = 0; site < of_sites_.size(); ++site) {
      counts.sites[site].constant = of_sites_[site].own;
      counts.constant_reads += of_sites_[site].own;
      counts.constant_group_reads += of_sites_[site].group;
    }
  }

private:
  struct OfSite {
    Lookups own, group;
  };
  std::uint32_t group_sms_;
  std::vector<ReadOnlyCache> own_, groups_;
  std::vector<OfSite> of_sites_; ///< as Snapshot::sites
};

} // namespace warplens::model
