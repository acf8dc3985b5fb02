// The result of a model run, schema `warplens-result/1`: the one contract between model/ and report/. An
// unobserved figure is absent (an empty optional), never 0.
#pragma once

#include "numeric/statistic.h"
#include "result/accuracy.h"
#include "result/code.h"
#include "result/events.h"
#include "result/resources.h"
#include "result/sharing_profile.h"
#include "result/timeline.h"
#include "result/warp_states.h"
#include "support/expected.h"
#include "support/occupancy.h"
#include "trace/records.h"

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

/// Below this number of trials, spreads and intervals say little.
inline constexpr std::uint64_t few_trials = 8;

/// The parts of a mean latency by the level that served each request's slowest transaction, which decides it.
/// They add up to it.
struct LatencyParts {
  double l1_ns = 0, l2_ns = 0, dram_ns = 0, shared_ns = 0, constant_ns = 0;
};

/// The states of a kernel's warps, from trials on a clock; mean over trials.
struct WarpTime {
  ByState states{};        ///< the share of each in the warps' time, from their begin to their block's end
  double resident = 0;     ///< warps per SM that have not ended, mean over time and the GPU's SMs
  double cycles_apart = 0; ///< between two instructions of a warp, or accesses where no more is known
};

/// The states of warps at a line of the source, of which there is a site in its file; mean over trials.
struct LineTime {
  std::string file;
  std::uint32_t line = 0;
  double instructions = 0; ///< of warps, that they issue there; accesses where no more is known
  ByState states{};        ///< shares of the time of all the kernel's warps, which wait to issue one there
  double awaited = 0; ///< the share in which warps wait anywhere for results of the line, or at its barrier
  std::optional<ByInstructionKind> work; ///< its instructions by kind; where the code is known
};

/// A bound of a kernel in some of the machines that a GPU's unknown figures allow.
struct BoundOfMachines {
  std::optional<Resource> bound;
  std::uint32_t trials = 0;
  double microseconds = 0; ///< of the launch, mean over these trials
};

/// A kernel's time, from trials on a clock.
struct KernelTime {
  Statistic cycles;             ///< of the SM clock: of the blocks in the snapshot
  Statistic microseconds;       ///< of the whole launch
  bool is_extrapolated = false; ///< the snapshot is a part of the grid
  double launch_us = 0;         ///< of `microseconds`: what any launch takes, also one that does nothing
  /// The shares of the cycles in which each resource is busy, mean over trials: the busiest one of its kind,
  /// and the mean over all of its kind.
  ByResource busy{}, mean_busy{};
  /// The busiest resource; none: none is busy for long enough, and warps wait for latencies.
  std::optional<Resource> bound;
  /// The different bounds of the machines that were drawn, most trials first; empty: all have the same.
  std::vector<BoundOfMachines> bounds;
};

/// A site's part in its kernel's time.
struct SiteTime {
  Statistic waited; ///< warp-cycles per execution in which warps wait for its result, or at the barrier
  /// The share that these have of the time of all warps, from their begin to their block's end; mean over
  /// trials.
  double waited_share = 0;
  ByResource occupied{}; ///< its share of what each resource serves; 0 where it needs none of it
  Statistic share;       ///< of the kernel's time: model/figures.h
};

/// How the addresses of neighbouring lanes lie, in requests of two lanes or more; not in textures, whose
/// layout hides it.
struct LanePattern {
  double uniform = 0; ///< share of the requests in which all lanes access one address
  /// Share of the requests in which at least three quarters of the lanes access the address that lies
  /// `stride_bytes` behind that of the lane before; the distance is the commonest one that is not 0.
  double regular = 0;
  std::int64_t stride_bytes = 0;
  /// Share of the requests of consecutive elements that do not begin where a sector does, and by how many
  /// bytes they begin behind it most often.
  double misaligned = 0;
  std::uint32_t offset_bytes = 0;
};

/// The lanes of one request, which stands for its site's others: the first of those that need as many
/// sectors, or passes over the banks of shared memory, as most do.
struct LaneRequest {
  double share = 0;        ///< of the site's requests that need as many
  std::uint32_t parts = 0; ///< sectors, or passes
  std::uint32_t bytes = 0; ///< of each lane
  /// The address of each lane, in bytes behind the begin of the lowest 128-byte line; none: it is not active.
  std::array<std::optional<std::uint64_t>, 32> offsets;
};

/// A barrier has no figures of memory.
struct SiteResult {
  Site site;                                 ///< the space is the observed one, if there was any
  std::uint64_t executions = 0;              ///< warp-level, inside the snapshot
  double active_lanes = 0;                   ///< mean over executions
  std::optional<double> sectors_per_request; ///< 32-byte sectors, mean over executions; not for shared memory
  std::optional<std::uint64_t> bytes_used;   ///< distinct bytes the lanes requested, summed over executions
  std::optional<std::uint64_t> bytes_moved;  ///< 32 × sectors touched, summed over executions
  std::optional<double> bank_conflicts;      ///< shared memory: mean number of extra passes per request
  std::optional<double> constant_addresses;  ///< constant memory: mean number of addresses per request
  std::optional<LanePattern> pattern;        ///< none: no request has two lanes, or their texels are unknown
  std::optional<LaneRequest> request;        ///< none: local or constant memory, or a texture
  std::optional<Statistic> l1_hit_rate, l2_hit_rate, latency_ns;
  std::optional<Statistic>
      constant_hit_rate; ///< share of the requested addresses, in the SM's constant cache
  std::optional<LatencyParts> latency_parts;
  std::optional<double> latency_share; ///< executions × latency over the kernel's sum
  std::optional<SiteTime> time;        ///< where the trials have a clock
  /// Its events in the memory hierarchy, without what the L2 evicts, in the snapshot; mean over trials.
  std::optional<ByMemoryEvent> events;
};

/// The latencies of the requests of one trial.
struct LatencyDistribution {
  Histogram histogram;   ///< in ns; counts are requests
  double mode_ns = 0;    ///< the middle of the fullest bin
  double mode_share = 0; ///< the share of the requests in that bin
};

struct Totals {
  std::optional<Statistic> l1_read_hit_rate, l2_read_hit_rate, l2_write_hit_rate, dram_latency_ns;
  /// The share of the addresses that accesses to constant memory find in their SM's constant cache; and of
  /// the others, in the constant cache that a group of SMs shares.
  std::optional<Statistic> constant_hit_rate, constant_group_hit_rate;
  /// If the L2 has partitions, of the sectors that loads look up, the share that hits in the partition
  /// next to the SM; and the sectors of loads and stores that cross to the other one.
  std::optional<Statistic> l2_near_hit_rate, l2_crossing_share;
  std::optional<double> dram_read_bytes, dram_write_bytes; ///< mean over trials
  /// The bytes of these written that this launch did not store, in trials on a clock; a lower bound, as a
  /// launch is taken to have stored what is evicted.
  std::optional<double> dram_write_bytes_before;
  /// The share of the sectors that loads missed in the L2 without an earlier touch in the trial: they would
  /// hit if an earlier launch or copy had left them.
  std::optional<double> cold_miss_share;
  std::optional<LatencyDistribution>
      dram_latencies; ///< lines read in the first trial, with the latency of each
};

/// A total's value in each trial, in trial order; empty if a trial observed nothing. A list is empty if no
/// trial did.
struct TrialValues {
  using Values = std::vector<std::optional<double>>;
  Values cycles;       ///< of the SM clock: of the blocks in the snapshot; where the trials have a clock
  Values microseconds; ///< of the whole launch, likewise
  Values l1_read_hit_rate, l2_read_hit_rate, l2_write_hit_rate, dram_latency_ns;
  Values constant_hit_rate, constant_group_hit_rate;
};

/// The L2's contents when each trial began: the known remains of copies, fills and earlier launches (warm),
/// or nothing (cold).
struct L2Start {
  bool warm = false;
  std::uint64_t bytes = 0; ///< bytes in valid sectors; 0 if it is cold
  std::string why;         ///< the origin of the contents, and why others are not known
};

/// The reason why there were no more trials: the intervals were narrow enough, --trials was reached, or the
/// user or a budget of time asked for an end.
enum class StoppedBy : std::uint8_t { confidence, limit, request };

/// The number of distinct 128-byte lines between an access to a line and the one before it to the same line.
struct ReuseDistance {
  std::vector<std::uint64_t> edges;  ///< counts.size() + 1, ascending; edges[i] <= distance < edges[i + 1]
  std::vector<std::uint64_t> counts; ///< accesses to one line
  std::uint64_t cold = 0;            ///< first touches, which have no distance
};

/// The kernel's accesses to one array (or other object that they are named after).
struct ObjectResult {
  std::string name;
  std::uint64_t requests = 0;                    ///< warp accesses in the snapshot
  std::uint64_t footprint_bytes = 0;             ///< 32 × distinct sectors touched in the snapshot
  std::uint64_t bytes_used = 0, bytes_moved = 0; ///< the sums over its sites
  std::optional<ReuseDistance> reuse_distance;
  /// 32 × distinct sectors that one block touches: of the block that touches most. Absent in results of older
  /// versions.
  std::optional<std::uint64_t> block_footprint_bytes;
};

/// The properties of the machine code that NVIDIA's compiler makes of the kernel for this GPU, without
/// probes.
struct CompiledKernel {
  std::uint32_t architecture = 0; ///< 80 is sm_80; 0: not known; then only the registers are
  bool assumed = false;           ///< the code is for another architecture than this GPU would run
  std::uint32_t registers = 0;    ///< per thread
  std::uint32_t stack_bytes = 0;  ///< per thread, in local memory
  std::uint32_t spill_store_bytes = 0, spill_load_bytes = 0; ///< per thread, each instruction counted once
  std::uint32_t shared_bytes = 0;                            ///< static, per block
};

/// How the machine code was executed beside the program, and whether the two agree.
struct CodeExecution {
  std::uint64_t blocks = 0;
  std::uint64_t words = 0;             ///< of 4 bytes, that the machine code wrote
  std::uint64_t different_words = 0;   ///< in which the program left something else
  std::uint64_t different_atomics = 0; ///< those of them that atomics wrote last
  double largest_difference = 0;       ///< of these as floats, relative to the larger one
};

/// The instructions that the warps of the snapshot executed, by the machine code that the clock followed.
struct ExecutedCode {
  std::uint32_t architecture = 0; ///< 80 is sm_80
  std::uint64_t instructions = 0; ///< of warps
  double matched = 1;             ///< the share of the trace's accesses for which the code has an instruction
  Statistic per_cycle;            ///< instructions per cycle and SM, mean over the GPU's SMs
  /// Nothing where a warp's way through the code was inferred from the program's accesses.
  std::optional<CodeExecution> execution;
  std::string inferred; ///< why it was; empty if `execution` is there, or none was wanted
};

/// The rates and limits of a GPU that a kernel's figures are held against.
struct Machine {
  double dram_bytes_per_ns = 0; ///< that its memory's bus can move at its peak
  /// The shares of it that can be reached by reads alone, and by reads and as many writes.
  double reads_reach = 1, copies_reach = 1;
  double l2_bytes_per_ns = 0; ///< that its L2 can read
  std::uint64_t l2_bytes = 0;
  std::uint32_t schedulers = 0;      ///< of an SM, each of which issues an instruction per cycle
  std::uint32_t turnover_cycles = 0; ///< from a block's end to the begin of the next one in its place
  SmResources sm;
};

/// Hashes of what a kernel's figures follow from: where all are equal in two results, so are the figures.
struct KernelIdentity {
  std::string code; ///< of the machine code that was modelled, without its lines; empty: not known
  /// The hash of the launch's shape, of what its warps executed and accessed, and of what used device memory
  /// before it.
  std::string work;
  std::string model; ///< of the model's version, the GPU's file, and the options that change figures

  friend bool operator==(const KernelIdentity&, const KernelIdentity&) = default;
};

struct KernelResult {
  std::string name, gpu;
  double sm_clock_mhz = 0;          ///< of the GPU in the trials; 0: not known
  std::optional<Accuracy> accuracy; ///< of the GPU's model; none: its file says nothing about it
  trace::Dim3 grid, block;
  /// The launches of the kernel for which this one stands, itself included; 0: not known, the trace was cut
  /// short.
  std::uint64_t launches = 0;
  /// The sum of these launches' work, in that of this one: they take that many times its time together.
  double times_this_launch = 0;
  std::uint64_t launches_of_kernel = 0; ///< in the whole run, of all shapes; 0: not known
  std::uint64_t launch = 0;             ///< the number of this one among the traced ones, from 0 on
  struct {
    std::uint32_t sms = 0; ///< of the GPU; 0: not known
    std::uint32_t blocks_per_sm = 0, warps_per_sm = 0;
    std::string limited_by;
    std::uint64_t shared_bytes = 0; ///< static and dynamic, of a block
  } occupancy;
  std::optional<Machine> machine; ///< absent in results of older versions
  std::optional<CompiledKernel> compiled;
  std::optional<KernelIdentity> identity; ///< absent in results of older versions
  struct {
    std::uint64_t blocks = 0, warp_accesses = 0, transactions = 0;
    bool complete = true;
    std::string limit; ///< the reason for the size; empty: not known
    /// The windows of the grid that the blocks are of, ascending; empty: the first blocks alone.
    std::vector<trace::BlockWindow> windows;
  } snapshot;
  struct {
    std::uint32_t run = 0;
    bool converged = false;
    std::optional<StoppedBy> stopped_by;
    /// Trials ran on this part of the machine, with as large a part of the snapshot: 8 is an eighth.
    std::uint32_t divisor = 1;
    std::vector<std::string> drawn; ///< figures of the GPU in which they differ: "issue.policy"
  } trials;
  std::optional<L2Start> l2_start;
  std::optional<KernelTime> time; ///< where the trials have a clock
  std::string
      time_unknown; ///< why their time is not the launch's; then none of what follows from it is there
  std::optional<WarpTime> warps; ///< likewise
  std::vector<LineTime> lines;   ///< likewise; ordered by file and line
  std::optional<ExecutedCode> executed;
  std::optional<CodeResult> code; ///< instruction by instruction; where `executed` is there, or was withheld
  std::string code_unknown;     ///< why only the accesses of warps are known; empty where `executed` is there
  std::optional<Events> events; ///< where the trials have a clock and the code is known
  std::optional<SharingProfile> sharing; ///< only on request
  Totals totals;
  TrialValues trial_values;
  std::vector<SiteResult> sites;     ///< ordered by file, line, column
  std::vector<ObjectResult> objects; ///< ordered by bytes_moved, largest first
  std::optional<Timeline> timeline;  ///< only on request
};

/// A file that a result was made from.
struct NamedHash {
  std::string name;
  std::uint64_t hash = 0; ///< of its bytes: support/hash.h
};

/// The inputs that a result was made from, so that one can tell whether two differ for that reason.
struct Manifest {
  std::string version;            ///< of Warplens
  std::vector<NamedHash> sources; ///< those named on the command line of `profile`
  std::string nvcc;               ///< nvcc's arguments there
  std::string arguments;          ///< the program's own, quoted; empty also in results of older versions
  std::vector<NamedHash> gpus;    ///< the files of the GPUs
  std::string toolkit;            ///< the version of the CUDA Toolkit that compiled them; empty: none did
};

struct Result {
  std::string program;
  std::uint64_t seed = 0;
  std::optional<double> executed_accesses_probed;
  bool trace_truncated = false;
  std::vector<KernelResult> kernels;
  std::optional<Manifest> manifest; ///< absent in results of older versions
};

inline constexpr const char* result_schema = "warplens-result/1";

/// Converts a result to JSON. Figures that are not finite are left out. Strings may hold any bytes of the
/// user's source: dump with nlohmann::json::error_handler_t::replace, as report::print_json does.
nlohmann::ordered_json to_json(const Result& result);

/// Reads a result. The schema's name, every type and every range are checked; the error names the JSON path,
/// e.g. `kernels[0].sites[2].line`.
Expected<Result> result_from_json(const nlohmann::json& json);

} // namespace warplens
