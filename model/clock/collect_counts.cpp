#include "model/clock/collect_counts.h"

#include <algorithm>

namespace warplens::model {
namespace {

void add(const SiteAccesses& accesses, const SiteStalls& stalls, const ClockFigures& figures,
         TrialCounts::Site& site) {
  site.l1 += accesses.l1;
  site.constant += accesses.constant;
  for (std::size_t level = 0; level < levels; ++level)
    site.latency_ns[level] += double(accesses.latency[level]) * figures.ns_per_cycle;
  site.awaited += double(stalls.awaited);
  site.throttled_cycles += double(stalls.throttled);
  site.occupied[std::size_t(Resource::issue)] += double(accesses.accesses) / figures.sm.schedulers;
  site.occupied[std::size_t(Resource::memory_pipeline)] += double(accesses.passes);
  site.occupied[std::size_t(Resource::shared_banks)] += double(accesses.shared_passes);
  site.occupied[std::size_t(Resource::constant_pipe)] += double(accesses.constant_passes);
  site.occupied[std::size_t(Resource::l2_port)] += double(accesses.port) / ticks_per_cycle;
}

} // namespace

TrialCounts collect_counts(const std::vector<std::unique_ptr<Sm>>& sms, const Snapshot& snapshot,
                           const ClockFigures& figures, std::vector<StateCounts> states,
                           std::uint32_t gpu_sms) {
  TrialCounts counts;
  counts.states = std::move(states);
  counts.sites.resize(snapshot.sites.size());
  TrialCounts::Time& time = counts.time;
  for (const auto& sm : sms) {
    time.cycles = std::max(time.cycles, sm->last());
    time.warp_cycles += double(sm->warp_cycles());
    const LoadStoreUnit& lsu = sm->load_store_unit();
    SiteAccesses all;
    for (std::size_t site = 0; site < counts.sites.size(); ++site) {
      const SiteAccesses& site_accesses = lsu.counts()[site];
      add(site_accesses, sm->stalls().sites()[site], figures, counts.sites[site]);
      all.passes += site_accesses.passes;
      all.shared_passes += site_accesses.shared_passes;
      all.constant_passes += site_accesses.constant_passes;
    }
    const auto busy = [&](Resource resource, double cycles) { time.add(resource, cycles, gpu_sms); };
    time.instructions += sm->instructions();
    busy(Resource::issue, double(sm->instructions()) / figures.sm.schedulers);
    busy(Resource::memory_pipeline, double(all.passes));
    busy(Resource::shared_banks, double(all.shared_passes));
    busy(Resource::constant_pipe, double(all.constant_passes));
    busy(Resource::l2_port, double(lsu.port_busy()) / ticks_per_cycle);
    ByResource pipe_busy{}; // two pipes of one resource are busy at the same time
    for (std::size_t pipe = 0; pipe < figures.sm.pipes.size(); ++pipe)
      if (const auto resource = resource_of_pipe(pipe)) {
        double& most = pipe_busy[std::size_t(*resource)];
        most = std::max(most, double(sm->pipe_passes()[pipe] * figures.sm.pipes[pipe].interval));
      }
    for (std::size_t resource = 0; resource < pipe_busy.size(); ++resource)
      if (pipe_busy[resource] != 0)
        busy(Resource(resource), pipe_busy[resource] / figures.sm.schedulers);
  }
  for (const TrialCounts::Site& site : counts.sites) {
    counts.l1_reads += site.l1;
    counts.constant_reads += site.constant;
  }
  return counts;
}

} // namespace warplens::model
