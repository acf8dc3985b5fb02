// A traced launch as the trials replay it: per warp the accesses in program order, coalesced once and shared
// by all trials.
#pragma once

#include "model/coalesce.h"
#include "model/geometry.h"
#include "support/expected.h"
#include "trace/reader.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace warplens::model {

/// Lines are numbered densely enough for 32 bits: the 2 MiB pages that a launch touches get consecutive
/// numbers in the order of their addresses, as physical addresses are not known; within a page nothing
/// changes.
inline constexpr unsigned page_shift = 14; ///< lines in 2 MiB, as a power of two
inline constexpr std::uint32_t max_pages =
    (std::uint32_t{1} << (32 - page_shift)) - 1; ///< the last line number stays unused

/// One line of one warp access.
struct Transaction {
  std::uint32_t line = 0;
  std::uint32_t sectors : 8 = 0; ///< one bit each
  std::uint32_t mask : 24 = 0;   ///< of a store: which bytes, an index into Snapshot::byte_masks
};

/// One bit for each byte of a line.
using ByteMask = std::array<std::uint64_t, 2>;
inline constexpr std::uint32_t max_byte_masks = 1u << 21; ///< a request to the L2 has room for that many

/// The cache of its SM that an access comes to first; `l1_local`: the L1, with local memory.
enum class FirstCache : std::uint8_t { l1, l1_local, constant, read_only, texture };

/// One warp access that goes to the memory hierarchy. Shared memory has no place here.
struct Access {
  std::uint32_t site : 23 = 0;       ///< index into Snapshot::sites
  std::uint32_t starts_bulk : 1 = 0; ///< the scheduler may turn to another warp before it
  std::uint32_t active_lanes : 8 = warp_lanes;
  std::uint8_t transactions = 0;
  FirstCache cache = FirstCache::l1; ///< constant memory: one transaction for each address
  trace::AccessKind kind = trace::AccessKind::load;
  bool skips_l1 = false; ///< by its cache operator, or for another cache

  bool loads_in_l1() const {
    return !skips_l1 && (kind == trace::AccessKind::load || kind == trace::AccessKind::update);
  }
};
static_assert(sizeof(Access) == 8);

struct Warp {
  std::uint64_t block = 0;
  std::uint32_t warp = 0; ///< within the block
  std::uint32_t bulks = 0;
  std::vector<Access> accesses;
  std::vector<Transaction> transactions; ///< of one access after the other

  /// Calls visit(access, transactions) for each access.
  template <class Visit> void each_access(Visit&& visit) const {
    const Transaction* first = transactions.data();
    for (const Access& access : accesses) {
      visit(access, std::span(first, access.transactions));
      first += access.transactions;
    }
  }
};

inline constexpr std::uint32_t max_sites = 1u << 23; ///< a site's index and its request's state share a word

/// What does not depend on the order of things, summed over the executions of a site.
struct SiteSummary {
  std::uint32_t site = 0; ///< index into the trace's sites
  bool seen[5] = {};      ///< by trace::Space
  std::uint64_t executions = 0, active_lanes = 0;
  std::uint64_t cached = 0, shared = 0, constant = 0; ///< executions by where they went
  std::uint64_t constant_passes = 0;                  ///< addresses that the constant cache was asked for
  std::uint64_t sectors = 0, bytes_used = 0;          ///< not shared memory
  std::uint64_t bank_passes = 0, least_bank_passes = 0;
  std::uint64_t l1_lines = 0, l1_sectors = 0; ///< that its loads look up in the L1: sum_up()
};

struct Snapshot {
  struct Block {
    std::uint64_t id = 0;
    std::uint32_t first_warp = 0, warps = 0;
  };
  std::vector<Block> blocks; ///< ascending ids; those without accesses to the hierarchy are absent
  std::vector<Warp> warps;   ///< by block, then by warp
  std::vector<SiteSummary> sites;
  std::vector<std::uint64_t> pages; ///< address / 2 MiB of each page, by its number
  std::vector<ByteMask> byte_masks; ///< the first has all bytes, whichever the sectors
  std::uint64_t blocks_seen = 0, warp_accesses = 0, transactions = 0;
  std::uint64_t longest_bulk = 0; ///< accesses: sum_up()
  bool whole_grid = true;         ///< else it stands for a longer launch
  bool reads_constants = false;   ///< are there accesses to constant memory?
  bool stores_local = false;      ///< … stores to local memory?
  bool reads_read_only = false;   ///< … loads that come to a read-only cache?
  bool reads_textures = false;    ///< … loads that come to a cache for textures?
};

/// Fills in what follows from the warps' accesses and is the same for every trial: `longest_bulk`, and the
/// sites' lookups in the L1.
void sum_up(Snapshot& snapshot);

/// Takes accesses in program order per (block, warp); the warps may come in any order, to the same result.
class SnapshotBuilder {
public:
  SnapshotBuilder(const std::vector<trace::Site>& sites, const trace::Launch& launch,
                  const LaneRules& rules = {});
  /// Refuses what cannot be: blocks and warps outside the launch, sites that the trace does not have,
  /// impossible widths.
  Expected<void> add(std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access);
  Snapshot finish() &&;

private:
  struct Stream {
    Warp warp;
    std::vector<std::uint32_t> bulk; ///< sites of the accesses since the scheduler could last turn away
    bool bulk_ended = true;
  };
  Stream& stream_of(std::uint64_t block, std::uint32_t warp);
  Expected<void> put_transactions(Warp& warp, const Coalesced& touched, const trace::WarpAccess& access);
  bool starts_bulk(const Stream& stream, std::uint32_t site) const;
  Expected<std::uint32_t> short_line(std::uint64_t line);
  Expected<std::uint32_t> mask_of(const Coalesced::Line& written);

  const std::vector<trace::Site>& trace_sites_;
  trace::Launch launch_;
  LaneRules rules_;
  std::unordered_map<std::uint64_t, std::uint32_t>
      site_index_;                                     ///< trace::Site::id → index into the trace's sites
  std::vector<std::vector<std::uint32_t>> depends_on_; ///< by index into the trace's sites
  std::vector<SiteSummary> summaries_;                 ///< by index into the trace's sites
  std::unordered_map<std::uint64_t, std::uint32_t> stream_index_;
  std::vector<Stream> streams_;
  std::unordered_map<std::uint64_t, std::uint32_t>
      frames_; ///< page → number, in the order of first touch until finish()
  std::map<ByteMask, std::uint32_t> mask_index_;
  std::vector<ByteMask> masks_;
  bool stores_local_ = false, reads_read_only_ = false, reads_textures_ = false;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  std::uint32_t last_frame_ = 0;
};

/// The first `blocks` of the launch's blocks; what the trace has of the others is passed over.
Expected<Snapshot> decode(const trace::Reader& trace, const trace::Launch& launch, std::uint64_t blocks,
                          const LaneRules& rules);

} // namespace warplens::model
