// A GPU as the model sees it, read from a TOML file in model/gpus/. Each figure there names its source.
#pragma once

#include "model/coalesce.h"
#include "support/expected.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warplens::model {

/// How a cache picks the set of a line: the line number modulo the number of sets, or the same with the
/// higher bits of the line number folded into the lower ones by exclusive or.
enum class IndexHash { modulo, xor_fold };

/// What a store does in the L1: nothing at all; it updates a line that is there (write-through, and makes it
/// the most recently used one); or it takes the sectors that it writes away (write-evict). In no case does a
/// store bring a line in.
enum class L1Stores { bypass, update_on_hit, evict_on_hit };

/// What a store to local memory does in the L1: the same as any other store, or the line takes it and goes to
/// the L2 when it is displaced.
enum class LocalStores { as_global, write_back };

/// What a store does in the L2.
/// `memory_update`: it hits only in a block that an earlier write brought in; a miss updates memory and
/// brings in a valid block (Baghsorkhi et al., PPoPP 2012, on Fermi). `allocate`: it hits in any valid
/// sector; a miss takes a sector without reading memory.
enum class L2Stores { memory_update, allocate };

/// What the L2 does where a store writes a part of a sector that is not there. `whole`: as if it wrote all of
/// it. `mask`: it keeps the bytes and a mask of them; a load fetches the rest, and a mask that leaves for
/// memory takes only its bytes along. `fill`: likewise, but memory takes whole sectors, and what leaves is
/// filled first, by a read of memory. `fetch`: the store reads the sector at once.
enum class PartialWrites { whole, mask, fill, fetch };

/// Which slice of the L2 has a line: consecutive ones in turn, or by a hash of the line's number, for the
/// power of two in the number of slices: higher bits folded in by exclusive or, or the remainder of the
/// number, taken as a polynomial over GF(2), by a primitive one (Rau, ISCA 1991).
enum class SliceHash { modulo, xor_fold, polynomial };

/// Which warp of an SM issues next, once the one that issued has to wait.
/// `weighted_round_robin`: warps take turns, those of a block end together (Baghsorkhi et al., PPoPP 2012).
/// `loose_round_robin`: warps take turns with one access each. `greedy_then_oldest`: the warp that has been
/// there longest and whose data has come.
enum class WarpOrder { weighted_round_robin, loose_round_robin, greedy_then_oldest };

/// How blocks find their SM: in turn, or each round of as many blocks as there are SMs in a random order.
enum class BlockPlacement { in_order, random };

/// How the blocks that an SM begins with are moved against each other, lest all be in step.
/// `random_delay`: each begins a random time later. `random_point`: each begins at a random point of its
/// accesses, and what lies before that point comes after the SM's last block (the paper's schedule
/// deviation). `mid_launch`: at a random point where the snapshot is a part of the grid and the point lies in
/// a loop, else a random time later.
enum class BlockStart { random_delay, random_point, mid_launch };

/// How a DRAM channel or bank follows from an address: consecutive ones in turn, or in turn but beginning
/// somewhere else each time around.
enum class DramIndex { modulo, permuted };

/// How long requests to memory wait for each other. `batch`: those of a batch arrive at once, on idle banks
/// (Baghsorkhi et al., PPoPP 2012). `kingman`: each bank and each channel's bus is a queue whose load follows
/// from what all warps ask for, so that a memory that cannot keep up slows the warps down.
enum class DramQueue { batch, kingman };

struct Gpu {
  std::string id;                ///< "c2050"
  std::string name;              ///< "Tesla C2050"
  bool validated = false;        ///< compared with measurements on the real GPU
  double compute_capability = 0; ///< 8.9
  /// The same as 89, as architectures are numbered.
  int capability() const { return static_cast<int>(std::lround(10 * compute_capability)); }
  double clock_mhz = 0; ///< the SM clock in which the latencies were measured
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
    double pass_ns = 0;    ///< what each further address in one access adds
    struct Group {
      std::uint32_t sms = 0; ///< that share it
      std::uint32_t bytes = 0;
      std::uint32_t line_bytes = 0; ///< at least 128
      std::uint32_t ways = 0;
      double latency_ns = 0; ///< of a hit, from the SM and back
    } group;
  } constant;

  struct Registers {
    std::uint32_t per_sm = 0;
    std::uint32_t per_block = 0; ///< at most
    std::uint32_t max_per_thread = 0;
    std::uint32_t allocation_unit = 0; ///< registers, per warp
    std::uint32_t sub_partitions = 0;  ///< register files per SM; a warp's registers lie in one
  } registers;

  struct Shared {
    std::vector<std::uint32_t> carveout_bytes; ///< ascending: what an SM can set aside for shared memory
    std::uint32_t max_bytes_per_block = 0;     ///< including what the system reserves
    std::uint32_t reserved_bytes_per_block = 0;
    std::uint32_t allocation_unit = 0; ///< bytes
    double latency_ns = 0;
    double pass_ns = 0; ///< what each further pass over the banks adds
  } shared;

  struct L1 {
    std::uint32_t with_shared_bytes = 0; ///< the L1's and the shared memory's together
    std::uint32_t ways = 0;              ///< the carve-out changes the number of sets
    double usable = 1;                   ///< the share of its size that holds lines
    double early_usable = 0;             ///< a part holds lines of only that share; 0: as the others
    bool sectored = false;               ///< a miss brings in the sectors asked for; otherwise the whole line
    IndexHash index = IndexHash::modulo;
    L1Stores stores = L1Stores::bypass;
    LocalStores local_stores = LocalStores::as_global;
    double latency_ns = 0;
  } l1;

  /// A cache of each SM for loads of what nothing writes.
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
    double usable = 1; ///< the share of its size that holds lines
    IndexHash index = IndexHash::modulo;
    L2Stores stores = L2Stores::allocate;
    PartialWrites partial_writes = PartialWrites::whole;
    std::uint32_t fetch_bytes = 32; ///< aligned; what a load miss brings in with each sector asked for
    std::uint32_t slices = 1;
    SliceHash slice_index = SliceHash::modulo;
    double latency_ns = 0; ///< from the SM and back, in the partition next to the SM

    /// Where there are two partitions, each keeps copies of what its own SMs load, in front of the whole L2.
    std::uint32_t partitions = 1;
    struct Copies {
      std::uint32_t ways = 0;
      double usable = 1;         ///< the share of the partition's size
      double far_latency_ns = 0; ///< of a sector that the L2 has, but not as a copy
      double early_usable = 0;   ///< as in the L1
    } copies;
  } l2;

  struct Schedule {
    WarpOrder warps = WarpOrder::weighted_round_robin;
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
    double latency_ns = 0;   ///< from the SM and back, nothing else under way, no row open
    double activate_ns = 0;  ///< tRCD: opening a row
    double precharge_ns = 0; ///< tRP: closing another one first
    double burst_ns = 0;     ///< 32 bytes on one channel's data bus
  } dram;
};

/// The words for them in GPU files and on the command line, in the order of the enumerators.
const std::vector<std::string>& warp_orders();
const std::vector<std::string>& block_placements();
const std::vector<std::string>& block_starts();

/// How many sets of `ways` lines a cache of `bytes` has where only a part of it is usable; at least one.
std::uint32_t sets_in(std::uint64_t bytes, double usable, std::uint32_t ways);

/// Names of the GPUs in the folder, sorted.
Expected<std::vector<std::string>> list_gpus(const std::filesystem::path& folder);

/// `name` is an id in the folder, or a path to a file. The error for a wrong name lists those there are; that
/// for a malformed file names the file, the line and what was expected.
Expected<Gpu> load_gpu(const std::string& name, const std::filesystem::path& folder);

/// The whole description with the source of each figure, as `warplens gpus NAME` prints it.
Expected<std::string> describe_gpu(const std::string& name, const std::filesystem::path& folder);

} // namespace warplens::model
