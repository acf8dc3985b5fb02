// From the accesses of a trace to a snapshot: each access is checked (access_check.h), coalesced
// (access_coalescer.h), and put into its warp's order (issue_order.h).
#pragma once

#include "model/snapshot/access_coalescer.h"
#include "model/snapshot/issue_order.h"
#include "model/snapshot/snapshot_size.h"
#include "trace/access_source.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// Builds a snapshot from accesses in the program order of each warp; the order of the warps does not change
/// the result.
class SnapshotBuilder {
public:
  /// `windows`: the blocks of the snapshot; empty: all of launch.first_block and launch.blocks.
  SnapshotBuilder(const std::vector<Site>& sites, const trace::Launch& launch, BlockWindows windows = {},
                  const LaneRules& rules = {}, Accesses accesses = Accesses::cached);
  SnapshotBuilder(const SnapshotBuilder&) = delete;
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;

  /// Adds an access; those of blocks outside of the windows are skipped. The error is that of check_access().
  Expected<void> add(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access);
  /// Adds an access of an executed instruction at a site, an index into the sites; with Accesses::executed.
  /// Its own site says whether it is the store of a copy (trace/executed.h).
  Expected<void> add_executed(std::uint64_t block, std::uint32_t warp, std::uint32_t site,
                              const trace::WarpAccess& access);
  /// Says what the warp's next access has to do with a phase of a barrier (trace::is_in_phase).
  Expected<void> enter_phase(std::uint64_t block, std::uint32_t warp, PhaseRole role,
                             const trace::WarpAccess& record);
  /// Says that iterations of a loop are left out before the warp's next access (trace::leaves_out).
  Expected<void> leave_out(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& record);
  /// Adds an access of these iterations, by its lanes in the first and in the last of them.
  Expected<void> describe(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& first,
                          const trace::WarpAccess& last);
  /// Says where iterations behind those left out end (trace::ends_check).
  Expected<void> end_check(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& record);
  /// Gives the snapshot a warp even if it makes no access.
  void keep(std::uint64_t block, std::uint32_t warp) { stream_of(block, warp); }
  /// `all_seen`: every block of the launch was traced, those without accesses as well.
  Snapshot finish(bool all_seen = false) &&;

private:
  /// The addresses of a site's last access, in the first and in the last lane that took part.
  struct LastLanes {
    std::uint32_t active = 0;
    std::uint64_t first = 0, last = 0;
  };
  /// A phase of a barrier of some block's.
  struct PhaseOfOwner {
    std::uint64_t owner = 0;
    PhaseUse use;
  };
  struct Stream {
    Warp warp;
    std::vector<std::uint64_t> owners; ///< of Warp::phases
    IssueOrder::WarpProgress order;
    /// The next access has the first role; the last one, which may have further parts, has the second.
    PhaseRole next_role = PhaseRole::none, role = PhaseRole::none;
    std::vector<PhaseOfOwner> next_phases, phases; ///< for these roles
    std::uint32_t phase_at = 0;                    ///< the number of the instruction with the next role
    std::uint64_t left_out = 0, measured = 0;      ///< iterations, of the last gap
    std::vector<LastLanes> last; ///< by index into the trace's sites; Accesses::all_in_program_order
    /// The last barrier: its site, an index into the trace's, and the lanes that have arrived.
    std::uint32_t barrier_site = 0, lanes_at_barrier = 0;
  };
  bool is_outside(std::uint64_t block) const;
  Stream& stream_of(std::uint64_t block, std::uint32_t warp);
  trace::WarpAccess carried_out(trace::WarpAccess access, std::uint32_t site) const;
  Expected<void> put_access(Stream& stream, std::uint32_t site, const trace::WarpAccess& traced);
  void scale_summaries();
  static void find_owners(Snapshot& snapshot, const std::vector<std::vector<std::uint64_t>>& owners);
  void put_measured_sites(Snapshot& snapshot, const std::vector<std::uint32_t>& site_number);
  static bool continues_last(Stream& stream, std::uint32_t site, const trace::WarpAccess& access);
  static void put_phase(Stream& stream, const trace::WarpAccess& executed, Access& entry);
  static void put_mark(Warp& warp, std::uint32_t site, const trace::WarpAccess& mark);
  void put_barrier(Stream& stream, std::uint32_t site, std::uint32_t lanes);

  const std::vector<Site>& sites_;
  trace::Launch launch_;
  BlockWindows windows_;
  LaneRules rules_;
  Accesses accesses_;
  SiteIndex site_index_;
  AccessCoalescer coalescer_;
  IssueOrder order_;
  std::vector<SiteSummary> summaries_;        ///< by index into the trace's sites
  std::vector<LanePatternCounter> patterns_;  ///< likewise
  std::vector<TypicalRequestFinder> typical_; ///< likewise
  /// The stores at sites that load as well, by site, with Accesses::executed: an update counts once.
  std::map<std::uint32_t, SiteSummary> stores_of_updates_;
  std::vector<double> measured_, left_out_;  ///< accesses, by index into the trace's sites
  std::vector<double> left_out_executions_;  ///< likewise, without the stores of updates
  std::vector<std::uint32_t> measured_site_; ///< likewise: their index into Snapshot::sites
  std::unordered_map<std::uint64_t, std::uint32_t> stream_index_;
  std::vector<Stream> streams_;
  /// The numbers of a block's phases, by the barrier and the phase's number there.
  using PhasesOfBlock = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>;
  std::unordered_map<std::uint64_t, PhasesOfBlock> phases_; ///< by block
  std::uint64_t last_stream_key_ = ~std::uint64_t{0};       ///< a warp's accesses come in runs
  std::uint32_t last_stream_ = 0;
};

/// Decodes blocks of the launch; accesses of the others are skipped.
Expected<Snapshot> decode(const trace::AccessSource& trace, const trace::Launch& launch,
                          const BlockWindows& windows, const LaneRules& rules,
                          Accesses accesses = Accesses::cached);

} // namespace warplens::model
