// The counters of a trial, by site. Totals are the sums over sites, so that attribution to sites costs no
// more than the address of a counter.
#pragma once

#include "model/cache/l2.h"
#include "model/replay/trial.h"
#include "model/snapshot/snapshot.h"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::model {

/// Counts the trial's lookups and latencies. If `by_site` is false, all sites share one counter.
template <bool by_site> class Tallies {
public:
  struct alignas(128) Tally {
    std::uint64_t in_l1 = 0; ///< sectors of its loads that hit in the L1
    Lookups read_only;       ///< in the read-only or the texture cache
    Lookups l2[4];           ///< by L2Kind; for loads, `all` excludes those that missed the L1
    std::array<double, levels> latency_ns{};
  };

  /// `sectored`: the L1 has sectors; else each of its lookups is of a whole line.
  Tallies(const Snapshot& snapshot, bool sectored)
      : snapshot_(snapshot), sectors_of_lookup_(sectored ? 1 : sectors_per_line),
        tallies_(by_site ? snapshot.sites.size() : 1) {}

  Tally& of(std::uint32_t site) { return tallies_[by_site ? site : 0]; }

  /// Returns the lookups in the L1 of `all` sectors, of which `found` hit.
  Lookups l1_lookups(std::uint64_t found, std::uint64_t all) const {
    return {found / sectors_of_lookup_, all / sectors_of_lookup_};
  }

  /// Adds all to the trial's counts, once all of the snapshot's accesses have been issued.
  void add_to(TrialCounts& counts) const {
    std::vector<std::uint64_t> in_l1(tallies_.size());
    for (std::size_t i = 0; i < snapshot_.sites.size(); ++i)
      in_l1[by_site ? i : 0] += looked_up_in_l1(snapshot_.sites[i]);
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      const Tally& tally = tallies_[i];
      TrialCounts::Site& site = counts.sites.emplace_back();
      site.l1 = tally.read_only;
      site.l1 += l1_lookups(tally.in_l1, in_l1[i]);
      site.latency_ns = tally.latency_ns;
      counts.l1_reads += site.l1;
      for (const L2Kind kind : {L2Kind::load, L2Kind::store, L2Kind::atomic, L2Kind::store_of_update}) {
        Lookups l2 = tally.l2[unsigned(kind)];
        if (kind == L2Kind::load)
          l2.all += in_l1[i] - tally.in_l1;
        (kind == L2Kind::load ? counts.l2_reads : counts.l2_writes) += l2;
        (kind == L2Kind::load ? site.l2_reads : site.l2_writes) += l2;
        if (kind != L2Kind::store_of_update)
          site.l2 += l2;
      }
    }
  }

private:
  /// Returns the sectors that the site's loads looked up, given that each of its accesses was issued once.
  std::uint64_t looked_up_in_l1(const SiteSummary& site) const {
    return sectors_of_lookup_ == 1 ? site.l1_sectors : site.l1_lines * sectors_per_line;
  }

  const Snapshot& snapshot_;
  unsigned sectors_of_lookup_; ///< in the L1
  std::vector<Tally> tallies_; ///< in the order of Snapshot::sites
};

} // namespace warplens::model
