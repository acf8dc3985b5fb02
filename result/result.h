// The result of a model run, schema `warplens-result/1`: the one contract between model/ and report/.
// What was not observed is absent (an empty optional), never 0.
#pragma once

#include "result/timeline.h"
#include "support/expected.h"
#include "trace/records.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warplens {

struct Histogram {
  std::vector<double> edges;         ///< counts.size() + 1, ascending
  std::vector<std::uint64_t> counts; ///< of a Statistic: one trial each
};

/// With fewer trials than this, spreads and intervals say little.
inline constexpr std::uint64_t few_trials = 8;

/// A figure over trials. `std_deviation` is over trials; `spread95` is mean ± 2 std (how much the unknown
/// order matters); `ci95` is the Student-t interval of the mean (how much the number of trials matters).
struct Statistic {
  double mean = 0;
  double std_deviation = 0;
  double ci95[2] = {0, 0};
  double spread95[2] = {0, 0};
  Histogram histogram;
};

/// The parts of a mean latency by where the slowest transaction of each request was served, which decides it.
/// They add up to it.
struct LatencyParts {
  double l1_ns = 0, l2_ns = 0, dram_ns = 0, shared_ns = 0, constant_ns = 0;
};

struct SiteResult {
  trace::Site site;                          ///< space: as observed, where one was
  std::uint64_t executions = 0;              ///< warp-level, inside the snapshot
  double active_lanes = 0;                   ///< mean over executions
  std::optional<double> sectors_per_request; ///< 32-byte sectors, mean over executions; not for shared memory
  std::optional<std::uint64_t> bytes_used;   ///< distinct bytes the lanes asked for, summed over executions
  std::optional<std::uint64_t> bytes_moved;  ///< 32 × sectors touched, summed over executions
  std::optional<double> bank_conflicts;      ///< shared memory: mean number of extra passes per request
  std::optional<Statistic> l1_hit_rate, l2_hit_rate, latency_ns;
  std::optional<Statistic> constant_hit_rate; ///< of the addresses asked for, in the SM's constant cache
  std::optional<LatencyParts> latency_parts;
  std::optional<double> latency_share; ///< executions × latency over the kernel's sum
};

/// Of the requests of one trial.
struct LatencyDistribution {
  Histogram histogram;   ///< in ns; counts are requests
  double mode_ns = 0;    ///< the middle of the fullest bin
  double mode_share = 0; ///< of the requests in that bin
};

struct Totals {
  std::optional<Statistic> l1_read_hit_rate, l2_read_hit_rate, l2_write_hit_rate, dram_latency_ns;
  /// Of the addresses that accesses to constant memory ask their SM's constant cache for; of what is not
  /// there, in the constant cache that a group of SMs shares.
  std::optional<Statistic> constant_hit_rate, constant_group_hit_rate;
  std::optional<double> dram_read_bytes, dram_write_bytes; ///< mean over trials
  /// Of the sectors that loads missed in the L2, the share that nobody had touched before in the trial: they
  /// would be there if an earlier launch or copy had left them.
  std::optional<double> cold_miss_share;
  std::optional<LatencyDistribution>
      dram_latencies; ///< lines read in the first trial, each as slow as it was
};

/// A total's value in each trial, in trial order; empty where a trial had nothing to see. A list is empty if
/// no trial had.
struct TrialValues {
  using Values = std::vector<std::optional<double>>;
  Values l1_read_hit_rate, l2_read_hit_rate, l2_write_hit_rate, dram_latency_ns;
  Values constant_hit_rate, constant_group_hit_rate;
};

/// What the L2 held when each trial began: what copies, fills and earlier launches are known to have left in
/// it (warm), or nothing (cold).
struct L2Start {
  bool warm = false;
  std::uint64_t bytes = 0; ///< in valid sectors; 0 where it is cold
  std::string why;         ///< who left it, and why it is not known what else was there
};

/// Why there were no more trials: the intervals were narrow enough, or --trials was reached.
enum class StoppedBy : std::uint8_t { confidence, limit };

/// How many distinct 128-byte lines lie between an access to a line and the one before it to the same line.
struct ReuseDistance {
  std::vector<std::uint64_t> edges;  ///< counts.size() + 1, ascending; edges[i] <= distance < edges[i + 1]
  std::vector<std::uint64_t> counts; ///< accesses to one line
  std::uint64_t cold = 0;            ///< first touches, which have no distance
};

/// What the kernel does with one array (or whatever its accesses are called after).
struct ObjectResult {
  std::string name;
  std::uint64_t requests = 0;                    ///< warp accesses in the snapshot
  std::uint64_t footprint_bytes = 0;             ///< 32 × distinct sectors touched in the snapshot
  std::uint64_t bytes_used = 0, bytes_moved = 0; ///< as of its sites, summed
  std::optional<ReuseDistance> reuse_distance;
};

/// What NVIDIA's compiler made of the kernel for this GPU, without probes.
struct CompiledKernel {
  std::uint32_t architecture = 0; ///< 80 is sm_80; 0: not known, the rest but for the registers neither
  bool assumed = false;           ///< for another architecture than this GPU would run
  std::uint32_t registers = 0;    ///< of a thread
  std::uint32_t stack_bytes = 0;  ///< of a thread, in local memory
  std::uint32_t spill_store_bytes = 0, spill_load_bytes = 0; ///< of a thread, each instruction counted once
  std::uint32_t shared_bytes = 0;                            ///< static, of a block
};

struct KernelResult {
  std::string name, gpu;
  std::optional<bool> gpu_validated; ///< has the model of this GPU been held against measurements on one?
  trace::Dim3 grid, block;
  std::uint64_t launches = 0; ///< of this kernel in the whole run; 0: not known, the trace was cut short
  struct {
    std::uint32_t blocks_per_sm = 0, warps_per_sm = 0;
    std::string limited_by;
  } occupancy;
  std::optional<CompiledKernel> compiled;
  struct {
    std::uint64_t blocks = 0, warp_accesses = 0, transactions = 0;
    bool complete = true;
    std::string limit; ///< why it is that large; empty: not known
  } snapshot;
  struct {
    std::uint32_t run = 0;
    bool converged = false;
    std::optional<StoppedBy> stopped_by;
  } trials;
  std::optional<L2Start> l2_start;
  Totals totals;
  TrialValues trial_values;
  std::vector<SiteResult> sites;     ///< ordered by file, line, column
  std::vector<ObjectResult> objects; ///< ordered by bytes_moved, most first
  std::optional<Timeline> timeline;  ///< only if asked for
};

struct Result {
  std::string program;
  std::uint64_t seed = 0;
  std::optional<double> executed_accesses_probed;
  bool trace_truncated = false;
  std::vector<KernelResult> kernels;
};

inline constexpr const char* result_schema = "warplens-result/1";

/// Figures that are not finite are left out. Strings may hold any bytes of the user's source: dump with
/// nlohmann::json::error_handler_t::replace, as report::print_json does.
nlohmann::ordered_json to_json(const Result& result);

/// Checks the schema's name, every type and every range; the error names the JSON path, e.g.
/// `kernels[0].sites[2].line`.
Expected<Result> result_from_json(const nlohmann::json& json);

} // namespace warplens
