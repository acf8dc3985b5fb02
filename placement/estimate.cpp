#include "placement/estimate.h"

#include "model/snapshot/coalesce.h"
#include "placement/paper/replays.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <set>
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

Machine machine_of(const model::Gpu& gpu) {
  Machine machine;
  machine.sms = gpu.sms;
  machine.clock_hz = gpu.clock_mhz * 1e6;
  machine.bytes_per_second = gpu.dram.bytes_per_ns() * 1e9;
  machine.simd_width = simd_width(gpu);
  machine.issue_width = gpu.issue.schedulers;
  machine.instruction_latency = instruction_latency(gpu);
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
  bool takes(std::uint64_t site, std::uint32_t of_sequence) {
    const bool begins = sequence != of_sequence || std::ranges::count(sites, site) != 0;
    if (begins)
      sites.clear();
    sequence = of_sequence;
    sites.push_back(site);
    return begins;
  }
};

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

} // namespace

Expected<LaunchCounts> count(const trace::AccessSource& source, const trace::Launch& launch,
                             std::uint64_t blocks, const model::Gpu& gpu, Reading reading) {
  LaunchCounts counts;
  std::set<std::pair<std::uint64_t, std::uint32_t>> warps;
  std::set<std::uint64_t> fetches;
  std::unordered_map<std::uint64_t, std::uint32_t> sequences; // by Site::id
  std::unordered_map<std::uint64_t, double> added;
  for (const Site& site : source.sites()) {
    sequences.emplace(site.id, site.sequence);
    if (site.cache_operator == CacheOperator::tex)
      fetches.insert(site.id);
  }
  for (const trace::MovedSite& moved : source.moved_sites())
    added.emplace(moved.site, moved.address_instructions);
  std::unordered_map<std::uint64_t, Bulk> bulks; // of each warp, the current one
  TRY(source.for_each_access(
      launch.id, [&](std::uint64_t block, std::uint32_t warp, const trace::WarpAccess& access) {
        if (block - launch.first_block >= blocks || access.active == 0)
          return;
        warps.emplace(block, warp);
        if (access.kind == AccessKind::barrier)
          ++counts.barriers;
        if (!is_access(access.kind) || !model::has_possible_width(access))
          return;
        counts.bulks += bulks[block * 32 + warp].takes(access.site, sequences[access.site]);
        if (const auto more = added.find(access.site); more != added.end())
          counts.address_instructions += more->second;
        if (access.space == Space::shared) {
          ++counts.shared;
          counts.bank_replays += shared_replays(access, gpu.lanes);
        } else if (access.space == Space::constant) {
          ++counts.constant;
          counts.constant_replays += constant_replays(access);
        } else {
          (fetches.contains(access.site) ? counts.texture : counts.global) += 1;
          const model::Coalesced touched = model::coalesce(access, gpu.lanes);
          counts.sectors += touched.sectors();
          counts.bytes += double(touched.sectors()) * sector_bytes;
          if (!fetches.contains(access.site) && access.space != Space::local)
            counts.global_replays += global_replays(access, reading);
        }
      }));
  counts.warps = warps.size();
  return counts;
}

OverlapEvents overlap_events(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu) {
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
  events.warps = double(result.occupancy.warps_per_sm) * warp_lanes / gpu.max_threads_per_sm;
  return events;
}

PaperEstimate paper_estimate(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu,
                             double instructions, Reading reading, const EstimateParts& parts,
                             const OverlapModel* overlap) {
  PaperEstimate estimate;
  const double warps = std::max<double>(1, double(counts.warps));
  const std::uint64_t warps_of_block = (result.block.count() + warp_lanes - 1) / warp_lanes;
  Machine machine = machine_of(gpu);
  WarpWorkload work;
  work.warps = double(result.grid.count() * warps_of_block);
  machine.sms = std::min<double>(machine.sms, double(result.grid.count()));
  work.resident_warps =
      std::min<double>(std::max(1u, result.occupancy.warps_per_sm), std::max(1.0, work.warps / machine.sms));
  // Since Volta nothing is issued again: the same passes are the memory pipeline's, beside the issue.
  const double replays = (counts.global_replays + counts.constant_replays + counts.bank_replays +
                          constant_misses(counts, result)) /
                         warps;
  estimate.replays = parts.counts_replays ? replays : 0;
  estimate.executed = instructions + (parts.counts_addresses ? counts.address_instructions / warps : 0);
  work.instructions = estimate.executed + estimate.replays;
  work.requests = counts.requests() / warps;
  work.barriers = counts.barriers / warps;
  work.bytes_per_request = counts.global + counts.texture > 0
                               ? counts.bytes / (counts.global + counts.texture)
                               : double(sector_bytes);
  work.memory_parallelism = counts.bulks > 0 ? std::max(1.0, counts.requests() / counts.bulks) : 1;
  const double all = counts.requests();
  const AccessMix mix{.misses = (1 - share(counts.shared, all)) * dram_share(counts, result),
                      .shared = share(counts.shared, all)};
  const double dram = parts.queues_dram && result.totals.dram_latency_ns
                          ? gpu.cycles(result.totals.dram_latency_ns->mean)
                          : machine.memory_latency;
  estimate.access_latency = access_latency(mix, dram, machine, reading);
  const double cpi = cycles_per_instruction(machine, work, reading);
  const WarpParallelism parallelism = warp_parallelism(machine, work, estimate.access_latency, cpi);
  estimate.cycles.computation =
      computation_cycles(machine, work, reading, barrier_cycles(machine, work, dram));
  estimate.cycles.memory = memory_cycles(machine, work, parallelism.memory_requests, estimate.access_latency);
  estimate.events = overlap_events(counts, result, gpu);
  estimate.cycles.overlap =
      overlap != nullptr
          ? overlap->overlap(estimate.events, estimate.cycles.computation, estimate.cycles.memory)
          : overlap_without_regression(parallelism, work.resident_warps, estimate.cycles.computation,
                                       estimate.cycles.memory);
  estimate.microseconds = estimate.cycles.total() * gpu.ns_per_cycle() / 1000;
  return estimate;
}

double porple_estimate(const LaunchCounts& counts, const KernelResult& result, const model::Gpu& gpu) {
  const double warps = std::max<double>(1, double(counts.warps));
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
