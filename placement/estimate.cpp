#include "placement/estimate.h"

#include "model/snapshot/coalesce.h"
#include "placement/paper/replays.h"
#include "placement/paper/warp_code.h"
#include "trace/changed_source.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace warplens::placement {
namespace {

/// Returns the cycles of a dependent floating-point operation (recalled, not measured here: 18 of a C2050's
/// hot clock, 9 of Kepler's, 4 from Volta on).
double instruction_latency(const model::Gpu& gpu) {
  return gpu.capability() < 30 ? 18 : gpu.capability() < 70 ? 9 : 4;
}

double simd_width(const model::Gpu& gpu) {
  if (gpu.pipes)
    return gpu.pipes->fp32;
  return gpu.capability() < 30 ? 32 : 192;
}

double special_function_width(const model::Gpu& gpu) {
  if (gpu.pipes)
    return gpu.pipes->special_function;
  return gpu.capability() < 30 ? 4 : 32;
}

Machine machine_of(const model::Gpu& gpu, const KernelResult& result) {
  Machine machine;
  machine.sms = std::min<double>(gpu.sms, double(result.grid.count()));
  machine.clock_hz = gpu.clock_mhz * 1e6;
  machine.bytes_per_second = gpu.dram.bytes_per_ns() * 1e9;
  machine.simd_width = simd_width(gpu);
  machine.issue_width = gpu.issue.schedulers;
  machine.instruction_latency = instruction_latency(gpu);
  machine.special_function_width = special_function_width(gpu);
  machine.memory_latency = gpu.cycles(gpu.dram.latency_ns);
  machine.l2_latency = gpu.cycles(gpu.l2.latency_ns);
  machine.shared_latency = gpu.cycles(gpu.shared.latency_ns);
  machine.departure_delay = sector_bytes / gpu.lsu.l2_bytes_per_cycle * sectors_per_line;
  return machine;
}

/// The requests of a warp that are on their way together: those of one scheduling sequence, until a loop
/// comes round.
struct Bulk {
  std::uint32_t sequence = ~0u;
  std::vector<std::uint64_t> sites;

  /// Takes the warp's next access; returns whether it begins a bulk.
  bool takes(std::uint64_t site, std::uint32_t next_sequence) {
    const bool begins = sequence != next_sequence || std::ranges::count(sites, site) != 0;
    if (begins)
      sites.clear();
    sequence = next_sequence;
    sites.push_back(site);
    return begins;
  }
};

/// A warp does not execute more instructions for each of its accesses.
constexpr double max_instructions_of_access = 10000;

double share(double part, double all) {
  return all > 0 ? std::min(1.0, part / all) : 0;
}

/// Returns the sectors that DRAM reads, as a share of those that requests ask for.
double dram_share(const LaunchCounts& counts, const KernelResult& result) {
  return share(result.totals.dram_read_bytes.value_or(0) / sector_bytes, counts.sectors);
}

double constant_misses(const LaunchCounts& counts, const KernelResult& result) {
  return result.totals.constant_hit_rate
             ? (counts.constant + counts.constant_replays) * (1 - result.totals.constant_hit_rate->mean)
             : 0;
}

/// Returns the warps of the snapshot, with those that access nothing.
double warps_of_snapshot(const KernelResult& result) {
  return std::max(1.0, double(result.snapshot.blocks * warps_of(result.block.count())));
}

double instructions_of(const KernelResult& result, InstructionKind kind) {
  return result.events ? result.events->instructions[std::size_t(kind)].warps : 0;
}

/// Returns the replays of misses of local memory in the L1 (cause 7).
double local_misses(const KernelResult& result) {
  double misses = 0;
  for (const SiteResult& site : result.sites)
    if (site.site.space == Space::local && site.l1_hit_rate)
      misses += double(site.executions) * (1 - site.l1_hit_rate->mean);
  return misses;
}

/// Returns the launch's work but for its instructions.
WarpWorkload workload_of(const LaunchCounts& counts, const KernelResult& result, const Machine& machine) {
  WarpWorkload work;
  const double warps = warps_of_snapshot(result);
  work.warps = double(result.grid.count() * warps_of(result.block.count()));
  work.resident_warps =
      std::min<double>(std::max(1u, result.occupancy.warps_per_sm), std::max(1.0, work.warps / machine.sms));
  work.requests = counts.requests() / warps;
  // Requests to constant and shared memory are among those that wait, and move nothing.
  work.bytes_per_request = std::max(1.0, counts.bytes / std::max(1.0, counts.requests()));
  work.memory_parallelism = counts.bulks > 0 ? std::max(1.0, counts.requests() / counts.bulks) : 1;
  return work;
}

OverlapEvents overlap_events(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu,
                             const RowShares& rows) {
  const double all = counts.requests(), misses = dram_share(counts, result);
  OverlapEvents events;
  events.global_requests = share(counts.global, all);
  events.global_misses = events.global_requests * misses;
  events.constant_requests = share(counts.constant, all);
  events.constant_misses = share(constant_misses(counts, result), all);
  events.texture_requests = share(counts.texture, all);
  events.texture_misses = events.texture_requests * misses;
  events.shared_requests = share(counts.shared, all);
  events.bank_conflicts = share(counts.bank_replays, all);
  events.row_misses = rows.miss;
  events.row_conflicts = rows.conflict;
  events.warps = double(result.occupancy.warps_per_sm) * warp_lanes / gpu.max_threads_per_sm;
  return events;
}

/// Returns the latency of memory while warps issue as fast as they can (6 to 10).
Expected<MemoryLatency> queued_latency(const trace::AccessSource& source, const trace::Launch& launch,
                                       const LaunchCounts& counts, const KernelResult& result,
                                       const model::Gpu& gpu, const Machine& machine,
                                       const WarpWorkload& work, const PaperOptions& options) {
  const std::uint64_t resident = std::uint64_t{result.occupancy.blocks_per_sm} * gpu.sms;
  TRY_LET(banks,
          bank_arrivals(source, launch, result.snapshot.blocks, resident, gpu, !options.parts.maps_banks));
  double sectors = 0;
  for (const BankArrivals& bank : *banks)
    sectors += bank.sectors;
  const double cpi = cycles_per_instruction(machine, work, options.reading);
  const WarpParallelism idle = warp_parallelism(machine, work, machine.memory_latency, cpi);
  const double cycles_of_access = work.instructions / std::max(work.requests, 1e-9) * cpi;
  const double lines =
      std::max(1.0, counts.sectors / std::max(1.0, counts.global + counts.texture) / sectors_per_line);
  return memory_latency(
      *banks,
      {.step_ns = cycles_of_access * gpu.ns_per_cycle(),
       .misses = sectors > 0 ? result.totals.dram_read_bytes.value_or(0) / sector_bytes / sectors : 1,
       .requests_in_flight = machine.sms * idle.memory_requests * lines},
      gpu, options.reading);
}

/// Returns the lanes' atomics on one address beyond the first (cause 6).
double atomic_replays(const trace::WarpAccess& access) {
  return double(std::popcount(access.active)) - double(model::distinct_addresses(access).size());
}

} // namespace

Expected<LaunchCounts> count(const trace::AccessSource& source, const trace::Launch& launch,
                             std::uint64_t blocks, const model::Gpu& gpu, Reading reading) {
  LaunchCounts counts;
  std::set<std::uint64_t> fetches, added;
  std::unordered_map<std::uint64_t, std::uint32_t> sequences; // by Site::id
  for (const Site& site : source.sites()) {
    sequences.emplace(site.id, site.sequence);
    if (site.cache_operator == CacheOperator::tex)
      fetches.insert(site.id);
  }
  if (const trace::Alteration* const altered = source.alteration())
    for (const trace::MovedSite& moved : altered->moved_sites)
      if (!moved.space_in_code)
        added.insert(moved.site);
  std::unordered_map<std::uint64_t, Bulk> bulks; // of each warp, the current one
  TRY(source.for_each_access(
      launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if (block - launch.first_block >= blocks || access.active == 0)
          return;
        const bool is_copy = added.contains(access.site);
        counts.added += is_copy;
        if (is_copy && access.space == Space::global && access.kind == AccessKind::load)
          counts.copied_bytes += double(std::popcount(access.active)) * access.bytes;
        if (is_copy && reading == Reading::literal)
          return;
        if (access.kind == AccessKind::barrier)
          ++counts.barriers;
        if (!is_access(access.kind) || !model::has_possible_width(access))
          return;
        counts.bulks += bulks[block * 32 + warp].takes(access.site, sequences[access.site]);
        if (access.space == Space::shared) {
          ++counts.shared;
          counts.bank_replays += shared_replays(access, gpu.lanes);
        } else if (access.space == Space::constant) {
          ++counts.constant;
          counts.constant_replays += constant_replays(access);
        } else {
          const bool is_fetch = fetches.contains(access.site);
          (is_fetch ? counts.texture : counts.global) += 1;
          const model::Coalesced touched = model::coalesce(access, gpu.lanes);
          counts.sectors += touched.sectors();
          counts.bytes += double(touched.sectors()) * sector_bytes;
          if (access.space == Space::local)
            counts.local_replays += touched.count == 0 ? 0 : touched.count - 1;
          else if (!is_fetch)
            counts.global_replays += global_replays(access, reading);
        }
        if (access.kind == AccessKind::atomic)
          counts.atomic_replays += atomic_replays(access);
      }));
  return counts;
}

Expected<PaperModel> PaperModel::of(const trace::AccessSource& trace, const trace::Launch& launch,
                                    const Arrays& arrays, const KernelResult& result,
                                    const KernelResult& code, const model::Gpu& gpu,
                                    const Addressing& addressing, const PaperOptions& options) {
  PaperModel model(gpu, addressing, options);
  const WarpCode counted_code = warp_code(code, launch, gpu);
  TRY_LET(groups, IndexGroups::find(trace, launch, result.snapshot.blocks, arrays, counted_code.wide_sites));
  TRY_LET(counts, count(trace, launch, result.snapshot.blocks, gpu, options.reading));
  model.groups_ = std::move(*groups);
  const double warps = warps_of_snapshot(result), warps_of_code = warps_of_snapshot(code);
  // Without machine code only the accesses are known, and what computes their addresses; nor is more known
  // where the way that was inferred through the code goes round a loop without accesses almost without end.
  const double requests = counts->requests() / warps;
  const double counted = code.executed ? double(code.executed->instructions) / warps_of_code : 0;
  const bool is_counted = counted > 0 && counted <= max_instructions_of_access * (requests + 1);
  const auto instructions_of_kind = [&](InstructionKind kind) {
    return is_counted ? instructions_of(code, kind) / warps_of_code : 0;
  };
  model.instruction_parallelism_ = is_counted ? counted_code.instruction_parallelism : 1;
  model.instructions_ = is_counted ? counted : requests * (1 + addressing.global);
  model.replays_ = (counts->atomic_replays + counts->local_replays + local_misses(result)) / warps +
                   instructions_of_kind(InstructionKind::fp64);

  const Machine machine = machine_of(gpu, result);
  WarpWorkload work = workload_of(*counts, result, machine);
  work.instructions = model.instructions_;
  work.barriers = counts->barriers / warps;
  work.special_functions = instructions_of_kind(InstructionKind::special_function);
  model.serial_cycles_ = barrier_cycles(machine, work, machine.memory_latency, options.reading) +
                         special_function_cycles(machine, work);
  return model;
}

Expected<PaperEstimate> PaperModel::estimate(const trace::AccessSource& source, const trace::Launch& launch,
                                             const KernelResult& result, std::span<const Move> moves) const {
  const Reading reading = options_.reading;
  const bool is_literal = reading == Reading::literal;
  TRY_LET(counts, count(source, launch, result.snapshot.blocks, gpu_, reading));
  const double warps = warps_of_snapshot(result);
  const Machine machine = machine_of(gpu_, result);
  WarpWorkload work = workload_of(*counts, result, machine);
  work.instruction_parallelism = instruction_parallelism_;

  PaperEstimate estimate;
  estimate.instruction_parallelism = instruction_parallelism_;
  if (options_.parts.counts_replays) // (3)
    estimate.replays = replays_ + (counts->global_replays + counts->constant_replays + counts->bank_replays +
                                   constant_misses(*counts, result)) /
                                      warps;
  estimate.executed =
      instructions_ + (is_literal ? 0 : counts->added / warps) +
      (options_.parts.counts_addresses ? groups_.added_instructions(moves, addressing_, reading) / warps : 0);
  estimate.executed = std::max(estimate.executed, work.requests);
  // Since Volta nothing is issued again: the same passes take the memory pipeline's time, beside the issue.
  const bool issues_again = is_literal || gpu_.capability() < 70;
  work.instructions = estimate.executed + (issues_again ? estimate.replays : 0);

  estimate.memory.nanoseconds = gpu_.dram.latency_ns;
  if (options_.parts.queues_dram) {
    TRY_LET(queued, queued_latency(source, launch, *counts, result, gpu_, machine, work, options_));
    estimate.memory = *queued;
  }
  const double all = counts->requests();
  // Constant memory's misses are few, as its caches bring in lines.
  const AccessMix mix{.misses = share(counts->global + counts->texture, all) * dram_share(*counts, result),
                      .shared = share(counts->shared, all)};
  estimate.access_latency = access_latency(mix, gpu_.cycles(estimate.memory.nanoseconds), machine, reading);
  const double cpi = cycles_per_instruction(machine, work, reading);
  const WarpParallelism parallelism = warp_parallelism(machine, work, estimate.access_latency, cpi);
  estimate.cycles.computation = computation_cycles(machine, work, reading, serial_cycles_);
  if (!issues_again)
    estimate.cycles.computation =
        std::max(estimate.cycles.computation,
                 (work.requests + estimate.replays) * work.warps / machine.sms + serial_cycles_);
  estimate.cycles.memory = memory_cycles(machine, work, parallelism.memory_requests, estimate.access_latency);
  if (is_literal)
    estimate.cycles.initialisation =
        counts->copied_bytes / double(std::max<std::uint64_t>(1, result.snapshot.blocks)) *
        double(result.grid.count()) / machine.bytes_per_second * machine.clock_hz;
  estimate.events = overlap_events(*counts, result, gpu_, estimate.memory.rows);
  estimate.cycles.overlap =
      options_.overlap != nullptr
          ? options_.overlap->overlap(estimate.events, estimate.cycles.computation, estimate.cycles.memory,
                                      reading)
          : overlap_without_regression(parallelism, work.resident_warps, estimate.cycles.computation,
                                       estimate.cycles.memory);
  estimate.microseconds = estimate.cycles.total() * gpu_.ns_per_cycle() / 1000;
  return estimate;
}

double porple_estimate(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu) {
  const double warps = warps_of_snapshot(result);
  const auto rate = [](const std::optional<Statistic>& hits) { return hits ? hits->mean : 0.0; };
  const double l1 = rate(result.totals.l1_read_hit_rate), l2 = rate(result.totals.l2_read_hit_rate);
  const double memory = gpu.cycles(gpu.dram.latency_ns);
  const auto through_l2 = [&](double hits, double hit_latency) {
    return hits * hit_latency + (1 - hits) * (l2 * gpu.cycles(gpu.l2.latency_ns) + (1 - l2) * memory);
  };
  const double constant_hits = rate(result.totals.constant_hit_rate);
  const double texture = gpu.texture.latency_ns > 0 ? gpu.texture.latency_ns : gpu.l1.latency_ns;
  return (counts.global * through_l2(l1, gpu.cycles(gpu.l1.latency_ns)) +
          counts.texture * through_l2(l1, gpu.cycles(texture)) +
          (counts.constant + counts.constant_replays) *
              through_l2(constant_hits, gpu.cycles(gpu.constant.latency_ns)) +
          (counts.shared + counts.bank_replays) * gpu.cycles(gpu.shared.latency_ns)) /
         warps;
}

} // namespace warplens::placement
