// The description of a GPU for the model, read from a TOML file in model/gpu/gpus/. Each figure there names
// its source.
#pragma once

#include "model/gpu/execution_pipes.h"
#include "model/gpu/lane_rules.h"
#include "model/sm/issue_policies.h"
#include "power/energies.h"
#include "result/accuracy.h"
#include "support/expected.h"
#include "vocabulary/geometry.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warplens::model {

/// The function from a line to its set: the line number modulo the number of sets, or the same with the
/// higher bits of the line number folded into the lower ones by exclusive or.
enum class IndexHash { modulo, xor_fold };

/// The effect of a store on the L1: none; an update of a line that hits (write-through, the line becomes the
/// most recently used one); or the eviction of the sectors that it writes (write-evict). None of these brings
/// a line in; `allocate` does, with the sectors that the store writes in full (write-through).
enum class L1Stores { bypass, update_on_hit, evict_on_hit, allocate };

/// The effect of a store to local memory on the L1: that of any other store, or the line keeps the data and
/// goes to the L2 when it is evicted.
enum class LocalStores { as_global, write_back };

/// The effect of a store on the L2.
/// `memory_update`: it hits only in a block that an earlier write brought in; a miss updates memory and
/// brings in a valid block (Baghsorkhi et al., PPoPP 2012, on Fermi). `allocate`: it hits in any valid
/// sector; a miss allocates a sector without a read of memory.
enum class L2Stores { memory_update, allocate };

/// The treatment of a store that misses and writes a part of a sector. `whole`: the L2 behaves as if the
/// store wrote all of it. `mask`: the L2 keeps the bytes and a mask of them; a load fetches the rest, and a
/// write-back writes only the bytes in the mask. `fill`: likewise, but memory takes whole sectors, and a read
/// of memory fills the sector before its write-back. `fetch`: the store reads the sector at once.
enum class PartialWrites { whole, mask, fill, fetch };

/// The function from a line to its slice of the L2: consecutive lines lie in consecutive slices, or a hash of
/// the line's number chooses, for the power of two in the number of slices: higher bits folded in by
/// exclusive or, or the remainder of the number, taken as a polynomial over GF(2), by a primitive one (Rau,
/// ISCA 1991).
enum class SliceHash { modulo, xor_fold, polynomial };

/// The order in which blocks are assigned to SMs: in turn, or in a random order in each round of as many
/// blocks as there are SMs.
enum class BlockPlacement { in_order, random };

/// The offsets between the blocks with which an SM begins, lest all be in step.
/// `random_delay`: each begins a random time later. `random_point`: each begins at a random point of its
/// accesses, and those before that point come after the SM's last block (the paper's schedule deviation).
/// `mid_launch`: each begins at a random point if the snapshot is a part of the grid and the point lies in a
/// loop, else a random time later.
enum class BlockStart { random_delay, random_point, mid_launch };

/// The function from an address to its DRAM channel or bank: consecutive addresses cycle through them, from
/// the first one or from another one in each cycle.
enum class DramIndex { modulo, permuted };

/// The model of how long requests to memory wait for each other. `batch`: those of a batch arrive at once, on
/// idle banks (Baghsorkhi et al., PPoPP 2012). `kingman`: each bank and each channel's bus is a queue whose
/// load follows from the requests of all warps, so that a saturated memory slows the warps down.
enum class DramQueue { batch, kingman };

/// Limits of `early_usable` (model/cache/uneven_cache.h): the smallest share of the lines that it may be,
/// from which on no more than half of the lines are early ones; and the largest number of ways of a cache
/// that has it.
inline constexpr double min_early_usable = 0.5;
inline constexpr std::uint32_t max_ways_with_early_part = 8;

struct Gpu {
  std::string id;   ///< "c2050"
  std::string name; ///< "Tesla C2050"
  /// How far off the model was on this GPU or, where nothing was measured on it, on its nearest relative;
  /// none: the file says nothing about it.
  std::optional<Accuracy> accuracy;
  double compute_capability = 0; ///< 8.9
  /// Returns it as 89, the number of the architecture.
  int capability() const { return static_cast<int>(std::lround(10 * compute_capability)); }
  /// Returns the mean extra latency of lines over lines homed in the SM's own partition of the L2; 0 with one
  /// partition.
  double mean_hop_ns() const { return l2.hop_ns / 2; }
  double clock_mhz = 0; ///< the SM clock in which the latencies were measured
  double ns_per_cycle() const { return 1000 / clock_mhz; }
  double cycles(double ns) const { return ns / ns_per_cycle(); } ///< of the SM clock
  std::uint32_t sms = 0;
  std::uint32_t max_threads_per_sm = 0;
  std::uint32_t max_blocks_per_sm = 0;
  std::uint32_t max_threads_per_block = 0;
  std::uint64_t l2_bytes = 0;
  LaneRules lanes;

  /// Each SM has a cache for constant memory; behind it is one that neighbouring SMs share.
  struct Constant {
    std::uint32_t bytes = 0;
    std::uint32_t line_bytes = 0; ///< at most 128
    std::uint32_t ways = 0;
    double latency_ns = 0; ///< of a hit
    double pass_ns = 0;    ///< added by each further address in one access
    struct Group {
      std::uint32_t sms = 0; ///< that share it
      std::uint32_t bytes = 0;
      std::uint32_t line_bytes = 0; ///< at least 128
      std::uint32_t ways = 0;
      double latency_ns = 0; ///< of a hit, from the SM and back
    } group;
  } constant;

  /// The issue of instructions (model/sm/). Cycles are those of the SM's clock.
  struct Issue {
    std::uint32_t schedulers = 0;
    IssuePolicy policy = IssuePolicy::loose_round_robin;
    std::uint32_t cycles_per_access = 0; ///< between a warp's accesses, where its instructions are unknown
    std::uint32_t barrier_cycles = 0;    ///< from the last warp's arrival at a barrier to the release
    std::uint32_t barrier_interval = 0;  ///< between the arrivals of two warps of an SM at barriers
    std::uint32_t turnover_cycles = 0;   ///< from a block's end to the begin of the next one in its place
    /// The part of a launch's time that any launch takes, also one that does nothing: until its first block
    /// begins, and from the end of its last one on.
    double launch_ns = 0;
  } issue;

  std::optional<ExecutionPipes> pipes; ///< none: GPUs for which no compiler makes machine code need none

  /// The memory pipeline of an SM, up to the port to the L2.
  struct Lsu {
    std::uint32_t queue_entries = 0;     ///< of each scheduler
    std::uint32_t scheduler_cycles = 0;  ///< between two accesses of a scheduler
    std::uint32_t cycles = 0;            ///< between two accesses, at least; each has a cycle for each pass
    std::uint32_t misses = 0;            ///< sectors, or lines, that can be on their way; 0: any number
    std::uint32_t stores = 0;            ///< requests for which no warp waits that can be on their way
    double l2_bytes_per_cycle = 0;       ///< that the port to the L2 moves into the SM
    double l2_write_bytes_per_cycle = 0; ///< that it moves out of it
  } lsu;

  struct Registers {
    std::uint32_t per_sm = 0;
    std::uint32_t per_block = 0; ///< maximum
    std::uint32_t max_per_thread = 0;
    std::uint32_t allocation_unit = 0; ///< registers, per warp
    std::uint32_t sub_partitions = 0;  ///< register files per SM; a warp's registers lie in one
  } registers;

  struct Shared {
    std::vector<std::uint32_t> carveout_bytes; ///< ascending: sizes that an SM can reserve for shared memory
    std::uint32_t max_bytes_per_block = 0;     ///< including what the system reserves
    std::uint32_t reserved_bytes_per_block = 0;
    std::uint32_t allocation_unit = 0; ///< bytes
    double latency_ns = 0;
    double pass_ns = 0; ///< added by each further wavefront
  } shared;

  struct L1 {
    std::uint32_t with_shared_bytes = 0; ///< the L1's and the shared memory's together
    std::uint32_t ways = 0;              ///< the carve-out changes the number of sets
    double usable = 1;                   ///< the share of its size that holds lines
    double early_usable = 0; ///< the early part's share (uneven_cache.h); 0: there is no such part
    bool sectored = false;   ///< a miss brings in the requested sectors; otherwise the whole line
    IndexHash index = IndexHash::modulo;
    L1Stores stores = L1Stores::bypass;
    LocalStores local_stores = LocalStores::as_global;
    double latency_ns = 0;
  } l1;

  /// A cache of each SM for loads of data that nothing writes.
  struct ReadOnly {
    std::uint32_t bytes = 0;
    std::uint32_t line_bytes = 0; ///< at most 128
    std::uint32_t ways = 0;
    double latency_ns = 0; ///< of a hit
  };
  ReadOnly read_only; ///< for loads with the cache operator `nc`, if lanes.own_read_only_cache
  ReadOnly texture;   ///< for fetches, if lanes.texture_cache is `own`

  struct L2 {
    std::uint32_t line_bytes = 0; ///< 128 with sectors of 32, or 32
    std::uint32_t ways = 0;
    double usable = 1;    ///< the share of its size that holds lines
    double set_aside = 0; ///< the share of its size, at most, that can be set aside for lines that persist
    double early_usable =
        0; ///< the same of one half of its lines, which overflows first (SetIndex); 0: all are alike
    IndexHash index = IndexHash::modulo;
    L2Stores stores = L2Stores::allocate;
    PartialWrites partial_writes = PartialWrites::whole;
    std::uint32_t fetch_bytes = 32; ///< aligned; a load miss brings them in with each requested sector
    std::uint32_t slices = 1;
    SliceHash slice_index = SliceHash::modulo;
    double latency_ns = 0;         ///< from the SM and back, in the SM's local partition
    double bytes_per_ns = 0;       ///< read, of all slices together
    std::uint32_t pass_bytes = 32; ///< that a slice reads or writes at a time, or a part in the same time
    double write_bytes_per_ns = 0; ///< written, of all slices together
    double partial_write_cost = 1; ///< of a pass with a part of a sector, against one of whole sectors
    double read_cost = 0.3;    ///< of the time of a pass that writes, what one that reads keeps from writing
    double atomics_per_ns = 0; ///< of all slices together, each of one word
    double float_sum_cost = 1; ///< of a floating-point sum before the next one in its line, against an atomic
    double hop_ns = 0;         ///< from one partition to the other and back; 0 with one partition
    double hop_bytes_per_ns = 0; ///< in one direction; 0 with one partition

    /// Its clock goes with the SMs', so that at another clock of theirs its figures keep their cycles; else
    /// it keeps its own.
    bool has_sm_clock = true;

    std::uint32_t partitions = 1; ///< each keeps what its SMs read; a line belongs to one of them
  } l2;

  struct Schedule {
    BlockPlacement placement = BlockPlacement::in_order;
    BlockStart start = BlockStart::random_delay;
  } schedule;

  struct Dram {
    std::uint64_t bytes = 0;    ///< of global memory
    std::uint32_t bus_bits = 0; ///< of all channels together
    std::uint32_t channels = 0;
    std::uint32_t banks = 0; ///< per channel
    std::uint32_t row_bytes = 0;
    std::uint32_t interleave_bytes = 0; ///< consecutive bytes on one channel
    DramIndex channel_index = DramIndex::modulo, bank_index = DramIndex::modulo;
    DramQueue queue = DramQueue::batch;
    /// From the SM and back, with nothing else in flight and no row open; in the SM's partition of the L2.
    double latency_ns = 0;
    double activate_ns = 0;     ///< tRCD: opening a row
    double precharge_ns = 0;    ///< tRP: closing another one first
    double burst_ns = 0;        ///< 32 bytes on one channel's data bus
    double achieved = 1;        ///< the share of the bus that reads alone can take, but for opened rows
    double copies_achieved = 1; ///< that reads and as many writes can take, for which the bus is turned
    double opening_ns = 0;      ///< for which a channel's bus transfers nothing where a bank opens a row
    std::uint32_t write_batch_sectors = 1; ///< that a channel collects and writes in one go
    /// What all channels together can move to and from the L2 in a cycle of the SMs' clock; 0: no limit is
    /// known. It matters at low clocks.
    double bytes_per_cycle = 0;

    /// Returns the cycles of the SMs' clock that a sector takes on its way between a channel and the L2, at
    /// least.
    double cycles_of_sector() const {
      return bytes_per_cycle == 0 ? 0 : sector_bytes * channels / bytes_per_cycle;
    }
    /// Return the share of the bus that reads alone, and reads and as many writes, take which open each row
    /// once.
    double reads_reach() const { return reach(achieved); }
    double copies_reach() const { return reach(copies_achieved); }
    /// Returns the bandwidth of all channels together.
    double bytes_per_ns() const { return sector_bytes / burst_ns * channels; }
    /// Returns the clock of the bus, which transfers two bits a cycle and wire.
    double clock_khz() const { return bytes_per_ns() * 1e6 * 8 / (2.0 * bus_bits); }

  private:
    double reach(double share) const {
      return 1 / (1 / share + opening_ns * sector_bytes / (burst_ns * row_bytes));
    }
  } dram;

  /// A part of the GPU that MIG gives to one program: SMs, and eighths of the L2 and of memory.
  struct Instance {
    std::uint32_t slices = 0; ///< of the seven of the GPU: "3g"
    std::uint32_t sms = 0, memory_eighths = 0;
  };
  std::vector<Instance> instances; ///< by slices, ascending; empty: the GPU cannot be divided

  std::optional<power::Energies> energies; ///< none: the board's power was not measured

  /// The figures that are not known, as "issue.policy", and the machines that differ in them
  /// (model/gpu/drawn_figures.h). Both are empty if none are drawn.
  std::vector<std::string> drawn;
  std::vector<Gpu> machines;
};

/// Sets the issue policy of the GPU and of its machines, which no longer draw it.
void set_policy(Gpu& gpu, IssuePolicy policy);

/// Returns their words in GPU files and on the command line, in the order of the enumerators.
const std::vector<std::string>& block_placements();
const std::vector<std::string>& block_starts();

/// Returns the number of sets of `ways` lines in a cache of which the share `usable` holds lines; at least
/// one.
std::uint32_t sets_in(std::uint64_t bytes, double usable, std::uint32_t ways);

/// Returns the names of the GPUs in the folder, sorted.
Expected<std::vector<std::string>> list_gpus(const std::filesystem::path& folder);

/// Reads the GPU file of that name, an id in the folder or a path to a file. The error for a wrong name lists
/// the ids in the folder; that for a malformed file names the file, the line and what was expected.
Expected<Gpu> load_gpu(const std::string& name, const std::filesystem::path& folder);

/// Returns the whole description with the source of each figure, as `warplens gpus NAME` prints it.
Expected<std::string> describe_gpu(const std::string& name, const std::filesystem::path& folder);

} // namespace warplens::model
