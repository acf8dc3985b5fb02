// A decoded launch, which the trials replay: the accesses of each warp in program order, coalesced once for
// all trials.
#pragma once

#include "model/code/code.h"
#include "model/snapshot/coalesce.h"
#include "model/snapshot/lane_pattern.h"
#include "model/snapshot/set_aside.h"
#include "model/snapshot/typical_request.h"
#include "trace/records.h"
#include "vocabulary/geometry.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warplens::model {

/// Lines have numbers of 32 bits: the 2 MiB pages that a launch touches get consecutive numbers in the order
/// of their addresses, as physical addresses are unknown; the offset in a page stays.
inline constexpr unsigned page_shift = 14; ///< lines in 2 MiB, as a power of two
inline constexpr std::uint32_t max_pages =
    (std::uint32_t{1} << (32 - page_shift)) - 1; ///< the last line number stays unused

/// The sectors of one line that one warp access touches.
struct Transaction {
  std::uint32_t line = 0;
  std::uint32_t sectors : 8 = 0; ///< one bit each
  /// The bytes that a store writes, an index into Snapshot::byte_masks; or how many atomics the L2 executes
  /// one after the other.
  std::uint32_t mask : 24 = 0;
};

/// A bit for each byte of a line.
using ByteMask = std::array<std::uint64_t, 2>;

/// Returns which of these sectors of a line are written, but not all of their bytes.
inline unsigned partly_written(const ByteMask& written, unsigned sectors) {
  unsigned partly = 0;
  for (unsigned sector = 0; sector < sectors_per_line; ++sector)
    partly |= unsigned{std::uint32_t(~(written[sector / 2] >> sector % 2 * sector_bytes)) != 0} << sector;
  return partly & sectors;
}
inline constexpr std::uint32_t max_byte_masks = 1u << 21; ///< a request to the L2 has that many bits for it

/// The part of the SM that serves an access first; `l1_local`: the L1, for local memory.
enum class FirstCache : std::uint8_t { l1, l1_local, constant, read_only, texture, shared };

/// Which accesses a snapshot has: those to the memory hierarchy, or also those to shared memory and the
/// barriers, which take time but no part in the caches. With `all`, the accesses of a warp are in the order
/// of the compiled code, as far as Site::copies tells it; otherwise they are in program order. With
/// `executed` they are those of executed instructions, in their order.
enum class Accesses : std::uint8_t { cached, all, all_in_program_order, executed };

/// The part of a warp's stream that begins with an access, where iterations of a loop are left out (Gap):
/// those that stand for them, those that check that, or what stands for itself alone.
enum class SampledPart : std::uint8_t { none, measured, behind_gap, whole };

/// An access's part in a phase of a barrier in shared memory (mbarrier), or of one for a part of a block's
/// warps: it arrives, it is a copy of bytes that the phase needs, it waits until the phase is over, it
/// arrives and the warp waits, or it arrives when the warp's asynchronous copies before it are there, or its
/// products of tensor memory.
enum class PhaseRole : std::uint8_t {
  none,
  arrives,
  copies,
  waits,
  meets,
  arrives_with_copies,
  arrives_with_products
};

/// The phase of a barrier in which an access has a part.
struct PhaseUse {
  static constexpr std::uint32_t no_block = ~0u; ///< the snapshot lacks the block
  PhaseUse(std::uint32_t number_of_phase = 0) : number(number_of_phase) {}
  std::uint32_t number;    ///< of its block's phases
  std::int32_t owner = 0;  ///< whose block it is: how many behind the access's own in Snapshot::blocks
  bool goes_on = false;    ///< the access has a part in the next one, too
  std::uint32_t bytes = 0; ///< that it copies within the shared memory of a cluster
};

/// One warp access, or a warp's arrival at a barrier, which has no transactions.
struct Access {
  std::uint32_t site : 23 = 0;       ///< index into Snapshot::sites
  std::uint32_t starts_bulk : 1 = 0; ///< the warp waits for its earlier accesses before it
  std::uint32_t active_lanes : 6 = warp_lanes;
  std::uint32_t is_store_of_update : 1 = 0; ///< its load is an access of its own
  std::uint32_t is_uniform : 1 = 0;         ///< all lanes access one word of shared memory
  std::uint8_t transactions = 0;
  std::uint8_t passes = 1; ///< through the SM's memory pipeline
  AccessKind kind : 3 = AccessKind::load;
  std::uint8_t skips_l1 : 1 = false;     ///< due to its cache operator, or as another cache serves it
  std::uint8_t is_awaited : 1 = true;    ///< there are accesses that need its result
  FirstCache cache : 3 = FirstCache::l1; ///< constant memory: one transaction for each address
  /// Each lane accesses what lies behind that of the site's access before: a compiler may join the two.
  std::uint8_t continues : 1 = false;
  SampledPart begins : 2 = SampledPart::none;
  PhaseRole phase : 3 = PhaseRole::none; ///< then Warp::phases says which

  bool loads_in_l1() const { return !skips_l1 && (kind == AccessKind::load || kind == AccessKind::update); }
};
static_assert(sizeof(Access) == 8);

/// Says that a warp executed a marked body before the access of that index.
struct Mark {
  std::uint32_t before = 0;
  std::uint32_t site = 0; ///< index into the trace's sites
  std::uint64_t count = 0;
};

/// Iterations of a warp's loop that are left out in front of an access: others are measured in their place.
struct Gap {
  std::uint32_t measured = 0, before = 0; ///< accesses: with which the measured iterations begin, and end
  /// The first access behind `checked` iterations behind the gap, which show how well others are predicted;
  /// or 0.
  std::uint32_t check_end = 0;
  double left_out = 0;                    ///< iterations, for each measured one
  double checked = 0;                     ///< iterations, likewise
  std::vector<Transaction> loads, stores; ///< what the iterations left out access, each line about once
};

struct Warp {
  std::uint64_t block = 0;
  std::uint32_t warp = 0; ///< within the block
  std::uint32_t bulks = 0;
  std::uint32_t path = 0; ///< index into Code::paths
  std::vector<Access> accesses;
  std::vector<Transaction> transactions; ///< of one access after the other
  std::vector<PhaseUse> phases;          ///< of the accesses with a PhaseRole, in order
  std::vector<Gap> gaps;                 ///< in order
  std::vector<Mark> marks;               ///< with Accesses::all_in_program_order, until its code is followed

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

/// The counts of a site that do not depend on the order of accesses, summed over its executions.
struct SiteSummary {
  std::uint32_t site = 0;  ///< index into the trace's sites
  bool seen[5] = {};       ///< by Space
  std::uint32_t bytes = 0; ///< of a lane in an access, at most
  std::uint64_t executions = 0, active_lanes = 0;
  std::uint64_t cached = 0, shared = 0, constant = 0; ///< executions by the memory that they access
  std::uint64_t barriers = 0;                         ///< executions that access none
  std::uint64_t constant_requests = 0;                ///< to the constant cache, one for each address
  std::uint64_t sectors = 0, bytes_used = 0;          ///< not shared memory
  std::uint64_t bank_wavefronts = 0, min_bank_wavefronts = 0;
  bool adds_floats = false;      ///< it is an atomic of floating-point numbers
  bool is_evicted_first = false; ///< its lines, from the L2
  LanePatternCounts lanes;       ///< not of local memory and textures, of which the layout hides it
  TypicalRequest typical;        ///< likewise, and not of constant memory
  /// The site in Snapshot::sites whose measured accesses these are, and how many accesses that are left out
  /// each of them stands for; its other counts are 0.
  std::uint32_t measures = not_measured;
  double left_out = 0;
  static constexpr std::uint32_t not_measured = ~0u;
  std::uint64_t l1_lines = 0, l1_sectors = 0; ///< that its loads look up in the L1; finalize() sets them
};

struct Snapshot {
  struct Block {
    std::uint64_t id = 0;
    std::uint32_t first_warp = 0, warps = 0;
    /// The phases to which other blocks contribute, once for each contribution.
    std::vector<std::uint32_t> phases_of_others = {};
  };
  std::vector<Block> blocks;          ///< ascending ids; those without accesses to the hierarchy are absent
  std::vector<Warp> warps;            ///< by block, then by warp
  std::vector<std::uint64_t> windows; ///< the first block's id of each run of blocks, ascending
  std::vector<SiteSummary> sites;
  std::vector<std::uint64_t> pages;                  ///< address / 2 MiB of each page, by its number
  SetAside set_aside;                                ///< in the L2
  std::vector<ByteMask> byte_masks;                  ///< the first has all bytes, for stores of whole sectors
  std::uint64_t blocks_seen = 0;                     ///< with or without accesses, where that is known
  std::uint64_t warp_accesses = 0, transactions = 0; ///< barriers are no accesses
  std::uint64_t longest_bulk = 0;                    ///< accesses; finalize() sets it
  bool whole_grid = true;                            ///< else it represents a longer launch
  double further_blocks = 0;                         ///< of that launch, with accesses to the hierarchy
  std::uint64_t lines_touched = 0; ///< where it represents a longer launch; finalize() sets it
  double stored_share = 0;         ///< of the sectors of these lines; finalize() sets it
  bool reads_constants = false;    ///< there are accesses to constant memory
  bool stores_local = false;       ///< there are stores to local memory
  bool reads_read_only = false;    ///< there are loads that a read-only cache serves
  bool reads_textures = false;     ///< there are loads that a texture cache serves
  bool leaves_out = false;         ///< there are gaps in warps
  /// If iterations are left out: how often each instruction is executed for each time that it is
  /// replayed.
  std::vector<double> executions_of_replayed;
  bool has_barriers = false;        ///< warps wait for each other
  bool joins_blocks = false;        ///< blocks wait for each other: there are phases_of_others
  std::shared_ptr<const Code> code; ///< what the warps execute; null: only their accesses are known
};

/// Sets the fields that follow from the warps' accesses and are the same for every trial: `longest_bulk`,
/// `lines_touched`, `stored_share`, and the sites' lookups in the L1.
void finalize(Snapshot& snapshot);

} // namespace warplens::model
