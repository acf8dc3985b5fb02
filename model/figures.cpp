#include "model/figures.h"

#include "numeric/statistics.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <map>

namespace warplens::model {
namespace {

/// Returns `value(trial)` of each trial, an optional that is empty for a trial without such events. The list
/// is empty if every trial's is.
template <class Value> TrialValues::Values values(std::span<const TrialCounts> trials, Value&& value) {
  TrialValues::Values values;
  bool seen = false;
  for (const TrialCounts& trial : trials)
    seen |= values.emplace_back(value(trial)).has_value();
  return seen ? values : TrialValues::Values{};
}

/// Returns the statistic over those values of the trials that are not empty; absent if there are fewer than
/// two.
std::optional<Statistic> statistic_of(std::span<const TrialCounts> trials,
                                      const TrialValues::Values& values) {
  std::vector<double> seen;
  std::vector<std::uint32_t> machines;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) {
      seen.push_back(*values[i]);
      machines.push_back(trials[i].machine);
    }
  if (seen.size() < 2)
    return std::nullopt;
  return summarize(seen, machines);
}

/// Returns the statistic of `value(trial)`.
template <class Value>
std::optional<Statistic> statistic_over(std::span<const TrialCounts> trials, Value&& value) {
  return statistic_of(trials, values(trials, value));
}

std::optional<double> rate(const Lookups& lookups) {
  if (lookups.all == 0)
    return std::nullopt;
  return double(lookups.hits) / double(lookups.all);
}

/// Returns the trial's cycles; empty if it has no clock.
std::optional<double> cycles(const TrialCounts& trial) {
  return trial.time.cycles == 0 ? std::nullopt : std::optional(double(trial.time.cycles));
}

std::optional<double> dram_latency(const TrialCounts& trial) {
  if (trial.dram_reads == 0)
    return std::nullopt;
  return trial.dram_latency_ns / double(trial.dram_reads);
}

/// The share of the time from which on the busiest resource bounds a kernel; below, it is latency. So do the
/// rules of NVIDIA's Nsight Compute (Kernel Profiling Guide, "Speed of Light").
constexpr double bounding_share = 0.6;

/// Returns the resource that is busy for longest. Shared memory's banks are a part of the memory pipeline.
Resource busiest_resource(const ByResource& busy) {
  std::size_t busiest = 0;
  for (std::size_t resource = 0; resource < resource_count; ++resource)
    if (Resource(resource) != Resource::shared_banks && busy[resource] > busy[busiest])
      busiest = resource;
  return Resource(busiest);
}

/// Returns the warp-cycles in which warps wait for the site's result or for its turn.
double stalled(const TrialCounts::Site& site) {
  return site.awaited + site.throttled_cycles;
}

Space observed_space(const SiteSummary& summary) {
  const auto kinds = std::count(std::begin(summary.seen), std::end(summary.seen), true);
  const auto first =
      std::find(std::begin(summary.seen), std::end(summary.seen), true) - std::begin(summary.seen);
  return kinds == 1 ? Space(first) : Space::generic;
}

double extra_wavefronts(const SiteSummary& summary) {
  return double(summary.bank_wavefronts - summary.min_bank_wavefronts);
}

/// Returns the latency summed over the executions that went to shared memory; it is the same in each trial.
double shared_ns(const SiteSummary& summary, const Gpu& gpu) {
  return double(summary.shared) * gpu.shared.latency_ns + extra_wavefronts(summary) * gpu.shared.pass_ns;
}

/// Returns the time of the requests after the first in accesses to constant memory; it is the same in each
/// trial.
double constant_requests_ns(const SiteSummary& summary, const Gpu& gpu) {
  return double(summary.constant_requests - summary.constant) * gpu.constant.pass_ns;
}

/// The times that are the same in each trial without a clock; on a clock they are among the trial's.
struct FixedTimes {
  double shared_ns = 0, constant_ns = 0;
};
FixedTimes fixed_times(const SiteSummary& summary, std::span<const TrialCounts> trials, const Gpu& gpu) {
  if (trials.front().time.cycles != 0)
    return {};
  return {shared_ns(summary, gpu), constant_requests_ns(summary, gpu)};
}

LatencyParts latency_parts(const SiteSummary& summary, std::size_t index, std::span<const TrialCounts> trials,
                           const Gpu& gpu) {
  const double executions = double(summary.executions);
  const FixedTimes fixed = fixed_times(summary, trials, gpu);
  const auto latency_of_level = [&](Level level) {
    double sum = 0;
    for (const TrialCounts& trial : trials)
      sum += trial.sites[index].latency_ns[std::size_t(level)];
    return sum / double(trials.size()) / executions;
  };
  return {latency_of_level(Level::l1), latency_of_level(Level::l2), latency_of_level(Level::dram),
          latency_of_level(Level::shared) + fixed.shared_ns / executions,
          latency_of_level(Level::constant) + fixed.constant_ns / executions};
}

} // namespace

void set_statistics(SiteResult& result, const SiteSummary& summary, std::size_t index,
                    std::span<const TrialCounts> trials, const Gpu& gpu) {
  const FixedTimes fixed = fixed_times(summary, trials, gpu);
  const double fixed_ns = fixed.shared_ns + fixed.constant_ns;
  const auto over = [&](auto&& value) { return statistic_over(trials, value); };
  result.l1_hit_rate = over([&](const TrialCounts& trial) { return rate(trial.sites[index].l1); });
  result.l2_hit_rate = over([&](const TrialCounts& trial) { return rate(trial.sites[index].l2); });
  result.constant_hit_rate =
      over([&](const TrialCounts& trial) { return rate(trial.sites[index].constant); });
  result.latency_ns = over([&](const TrialCounts& trial) {
    return std::optional((trial.sites[index].all_latency_ns() + fixed_ns) / double(summary.executions));
  });
}

/// Returns the shares of the site's requests by the pattern of their lanes; nothing if none has two lanes.
static std::optional<LanePattern> pattern_of(const LanePatternCounts& lanes) {
  if (lanes.requests == 0)
    return std::nullopt;
  const auto share = [&](std::uint64_t requests) { return double(requests) / double(lanes.requests); };
  return LanePattern{share(lanes.uniform), share(lanes.regular), lanes.stride_bytes, share(lanes.misaligned),
                     lanes.offset_bytes};
}

/// Returns the site's typical request, with its addresses from the begin of its lowest line.
static std::optional<LaneRequest> request_of(const TypicalRequest& typical) {
  if (typical.requests == 0)
    return std::nullopt;
  LaneRequest request{double(typical.alike) / double(typical.requests), typical.parts, typical.bytes, {}};
  std::uint64_t lowest = ~std::uint64_t{0};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (typical.active >> lane & 1)
      lowest = std::min(lowest, typical.addresses[lane]);
  const std::uint64_t begin = lowest / line_bytes * line_bytes;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (typical.active >> lane & 1)
      request.offsets[lane] = typical.addresses[lane] - begin;
  return request;
}

SiteResult site_counts(const SiteSummary& summary, const Site& site) {
  SiteResult result;
  result.site = site;
  result.site.space = observed_space(summary);
  result.executions = summary.executions;
  result.active_lanes = double(summary.active_lanes) / double(summary.executions);
  if (summary.barriers != 0)
    return result;
  if (const std::uint64_t elsewhere = summary.executions - summary.shared; elsewhere != 0) {
    result.sectors_per_request = double(summary.sectors) / double(elsewhere);
    result.bytes_used = summary.bytes_used;
    result.bytes_moved = summary.sectors * sector_bytes;
  }
  result.pattern = pattern_of(summary.lanes);
  result.request = request_of(summary.typical);
  if (summary.shared != 0)
    result.bank_conflicts = extra_wavefronts(summary) / double(summary.shared);
  if (summary.constant != 0)
    result.constant_addresses = double(summary.constant_requests) / double(summary.constant);
  return result;
}

SiteResult site_result(const SiteSummary& summary, std::size_t index, const Site& site,
                       std::span<const TrialCounts> trials, const Gpu& gpu) {
  SiteResult result = site_counts(summary, site);
  if (summary.barriers != 0)
    return result;
  set_statistics(result, summary, index, trials, gpu);
  result.latency_parts = latency_parts(summary, index, trials, gpu);
  return result;
}

std::optional<Statistic> cycles_of(std::span<const TrialCounts> trials) {
  return statistic_over(trials, cycles);
}

/// Returns the time of the launch. Blocks without accesses are not in the snapshot; a GPU begins one block in
/// a cycle.
static double microseconds_of(const TrialCounts& trial, const trace::Launch& launch, const Gpu& gpu) {
  const auto least = double(launch.grid.count());
  return (gpu.issue.launch_ns + std::max(trial.time.launch_cycles, least) * gpu.ns_per_cycle()) / 1000;
}

TrialValues::Values launch_times(std::span<const TrialCounts> trials, const trace::Launch& launch,
                                 const Gpu& gpu) {
  if (!cycles_of(trials))
    return {};
  return values(trials,
                [&](const TrialCounts& trial) { return std::optional(microseconds_of(trial, launch, gpu)); });
}

std::optional<Statistic> launch_time(std::span<const TrialCounts> trials, const trace::Launch& launch,
                                     const Gpu& gpu) {
  return statistic_of(trials, launch_times(trials, launch, gpu));
}

/// Returns the shares of the cycles in which each resource is busy, mean over those trials that `accepts`
/// takes. Memory may be writing what was evicted when the last block has ended.
template <class Accept>
static ByResource shares_of_time(std::span<const TrialCounts> trials, ByResource TrialTotals::Time::* busy,
                                 Accept&& accepts) {
  ByResource shares{};
  const auto accepted = double(std::ranges::count_if(trials, accepts));
  for (const TrialCounts& trial : trials)
    for (std::size_t resource = 0; resource < resource_count && accepts(trial); ++resource)
      shares[resource] += std::min(1.0, (trial.time.*busy)[resource] / double(trial.time.cycles)) / accepted;
  return shares;
}

/// Returns the resource that bounds a kernel with these shares; none: latency does. The passes of shared
/// memory's banks are among those of the memory pipeline.
static std::optional<Resource> bound_by(const ByResource& busy) {
  const Resource busiest = busiest_resource(busy);
  const double most = busy[std::size_t(busiest)];
  if (most < bounding_share)
    return std::nullopt;
  const bool by_banks =
      busiest == Resource::memory_pipeline && busy[std::size_t(Resource::shared_banks)] > most / 2;
  return by_banks ? Resource::shared_banks : busiest;
}

/// Returns the bounds of the machines on which the trials ran, if these differ; the one of most trials first.
static std::vector<BoundOfMachines> bounds_of_machines(std::span<const TrialCounts> trials,
                                                       const trace::Launch& launch, const Gpu& gpu) {
  std::map<std::uint32_t, std::optional<Resource>> bound_of_machine;
  for (const TrialCounts& trial : trials)
    if (!bound_of_machine.contains(trial.machine))
      bound_of_machine[trial.machine] =
          bound_by(shares_of_time(trials, &TrialTotals::Time::busy,
                                  [&](const TrialCounts& other) { return other.machine == trial.machine; }));
  std::vector<BoundOfMachines> bounds;
  for (const TrialCounts& trial : trials) {
    const std::optional<Resource> bound = bound_of_machine.at(trial.machine);
    auto found = std::ranges::find(bounds, bound, &BoundOfMachines::bound);
    if (found == bounds.end())
      found = bounds.insert(bounds.end(), BoundOfMachines{bound});
    ++found->trials;
    found->microseconds += microseconds_of(trial, launch, gpu);
  }
  if (bounds.size() < 2)
    return {};
  for (BoundOfMachines& bound_time : bounds)
    bound_time.microseconds /= bound_time.trials;
  std::ranges::stable_sort(bounds, std::ranges::greater(), &BoundOfMachines::trials);
  return bounds;
}

std::optional<KernelTime> kernel_time(std::span<const TrialCounts> trials, const Snapshot& snapshot,
                                      const trace::Launch& launch, const Gpu& gpu) {
  const auto cycles = cycles_of(trials);
  if (!cycles)
    return std::nullopt;
  KernelTime time;
  time.cycles = *cycles;
  time.is_extrapolated = !snapshot.whole_grid;
  time.launch_us = gpu.issue.launch_ns / 1000;
  time.microseconds = *launch_time(trials, launch, gpu);
  const auto any = [](const TrialCounts&) { return true; };
  time.busy = shares_of_time(trials, &TrialTotals::Time::busy, any);
  time.mean_busy = shares_of_time(trials, &TrialTotals::Time::mean_busy, any);
  time.bound = bound_by(time.busy);
  time.bounds = bounds_of_machines(trials, launch, gpu);
  return time;
}

std::uint64_t accesses_apart(const TrialCounts& trial, const Snapshot& snapshot) {
  const Code& code = *snapshot.code;
  std::uint64_t apart = 0;
  if (!code.was_executed())
    for (std::size_t place = code.kernel.instructions.size(); place < trial.states.size(); ++place)
      apart += trial.states[place].issued();
  return apart;
}

ExecutedCode executed_code(std::span<const TrialCounts> trials, const Snapshot& snapshot, const Gpu& gpu) {
  ExecutedCode executed;
  executed.architecture = std::uint32_t(snapshot.code->architecture);
  for (std::size_t place = 0; place < snapshot.code->kernel.instructions.size(); ++place)
    executed.instructions += trials.front().states[place].issued();
  executed.instructions += accesses_apart(trials.front(), snapshot);
  executed.matched = snapshot.code->matched;
  executed.per_cycle = *statistic_over(trials, [&](const TrialCounts& trial) {
    return std::optional(double(executed.instructions) / double(trial.time.cycles) / gpu.sms);
  });
  return executed;
}

/// Returns the cycles in which warps are active, which ends when a warp has exited and its last results are
/// there (Nsight Compute's `smsp__warps_active`); its block may end later.
static double active_warp_cycles(const TrialCounts& trial) {
  double cycles = trial.time.warp_cycles;
  for (const StateCounts& at : trial.states)
    cycles -= double(at.cycles[std::size_t(WarpState::ended)]);
  return cycles;
}

std::optional<WarpTime> warp_time(std::span<const TrialCounts> trials, const Gpu& gpu) {
  if (!cycles_of(trials))
    return std::nullopt;
  WarpTime time;
  for (const TrialCounts& trial : trials) {
    const double active = active_warp_cycles(trial);
    double instructions = 0;
    for (const StateCounts& at : trial.states) {
      for (std::size_t state = 0; state < warp_state_count; ++state)
        if (WarpState(state) != WarpState::ended)
          time.states[state] += double(at.cycles[state]) / active / double(trials.size());
      instructions += double(at.issued());
    }
    time.resident += active / double(trial.time.cycles) / gpu.sms / double(trials.size());
    time.cycles_apart += active / instructions / double(trials.size());
  }
  return time;
}

std::vector<LineTime> line_times(std::span<const TrialCounts> trials, const Snapshot& snapshot,
                                 const std::vector<Site>& sites) {
  if (!cycles_of(trials))
    return {};
  std::vector<double> active;
  std::ranges::transform(trials, std::back_inserter(active), active_warp_cycles);
  std::map<std::pair<std::string, std::uint32_t>, LineTime> lines;
  const auto add = [&](const std::string& file, std::uint32_t number, std::size_t place) {
    if (number == 0)
      return;
    LineTime& line = lines.try_emplace({file, number}, LineTime{file, number}).first->second;
    for (const TrialCounts& trial : trials) {
      const StateCounts& at = trial.states[place];
      const auto share = [&](std::uint64_t cycles) {
        return double(cycles) / active[std::size_t(&trial - trials.data())] / double(trials.size());
      };
      for (std::size_t state = 0; state < warp_state_count; ++state)
        line.states[state] += share(at.cycles[state]);
      line.awaited += share(at.awaited);
      line.instructions += double(at.issued()) / double(trials.size());
    }
  };
  std::size_t place = 0;
  if (snapshot.code)
    for (const SourceLine& line : snapshot.code->lines) {
      if (line.line != 0) // code without a table of lines has no files either
        add(snapshot.code->files[line.file], line.line, place);
      ++place;
    }
  for (const SiteSummary& summary : snapshot.sites)
    add(sites[summary.site].file, sites[summary.site].line, place++);
  std::vector<LineTime> result;
  for (auto& [place_of_line, line] : lines)
    if (line.states != ByState{})
      result.push_back(std::move(line));
  return result;
}

std::vector<TimeSums> time_sums(std::span<const TrialCounts> trials) {
  std::vector<TimeSums> sums;
  for (const TrialCounts& trial : trials) {
    TimeSums& sum = sums.emplace_back();
    sum.active = active_warp_cycles(trial);
    for (const TrialCounts::Site& site : trial.sites) {
      sum.stalled += stalled(site);
      for (std::size_t resource = 0; resource < resource_count; ++resource)
        sum.occupied[resource] += site.occupied[resource];
    }
    sum.occupied[std::size_t(Resource::dram)] += trial.time.writing_before;
  }
  return sums;
}

std::optional<SiteTime> site_time(const SiteSummary& summary, std::size_t index,
                                  std::span<const TrialCounts> trials, std::span<const TimeSums> sums,
                                  const std::optional<KernelTime>& kernel) {
  if (!kernel)
    return std::nullopt;
  const auto share = [](double part, double all) { return all == 0 ? 0 : part / all; };
  const auto sums_of = [&](const TrialCounts& trial) -> const TimeSums& {
    return sums[std::size_t(&trial - trials.data())];
  };
  const auto share_of_resource = [&](const TrialCounts& trial, std::size_t resource) {
    return share(trial.sites[index].occupied[resource], sums_of(trial).occupied[resource]);
  };
  SiteTime time;
  time.waited = *statistic_over(trials, [&](const TrialCounts& trial) {
    return std::optional(trial.sites[index].awaited / double(summary.executions));
  });
  for (const TrialCounts& trial : trials)
    time.waited_share += share(trial.sites[index].awaited, sums_of(trial).active) / double(trials.size());
  for (std::size_t resource = 0; resource < resource_count; ++resource)
    for (const TrialCounts& trial : trials)
      time.occupied[resource] += share_of_resource(trial, resource) / double(trials.size());
  const auto busiest = std::size_t(busiest_resource(kernel->busy));
  time.share = *statistic_over(trials, [&](const TrialCounts& trial) {
    const double stalled_of_all = sums_of(trial).stalled;
    if (stalled_of_all == 0)
      return std::optional(share_of_resource(trial, busiest));
    const double busy = std::min(1.0, trial.time.busy[busiest] / double(trial.time.cycles));
    return std::optional(busy * share_of_resource(trial, busiest) +
                         (1 - busy) * share(stalled(trial.sites[index]), stalled_of_all));
  });
  return time;
}

TrialValues values_of(std::span<const TrialCounts> trials) {
  TrialValues of;
  of.cycles = values(trials, cycles);
  of.l1_read_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.l1_reads); });
  of.l2_read_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.l2_reads); });
  of.l2_write_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.l2_writes); });
  of.constant_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.constant_reads); });
  of.constant_group_hit_rate =
      values(trials, [](const TrialCounts& trial) { return rate(trial.constant_group_reads); });
  of.dram_latency_ns = values(trials, dram_latency);
  return of;
}

Totals totals_of(std::span<const TrialCounts> trials, const Gpu& gpu) {
  const TrialValues trial_values = values_of(trials);
  Totals totals;
  totals.l1_read_hit_rate = statistic_of(trials, trial_values.l1_read_hit_rate);
  totals.l2_read_hit_rate = statistic_of(trials, trial_values.l2_read_hit_rate);
  totals.l2_write_hit_rate = statistic_of(trials, trial_values.l2_write_hit_rate);
  totals.constant_hit_rate = statistic_of(trials, trial_values.constant_hit_rate);
  totals.constant_group_hit_rate = statistic_of(trials, trial_values.constant_group_hit_rate);
  totals.dram_latency_ns = statistic_of(trials, trial_values.dram_latency_ns);
  if (cycles_of(trials) && gpu.l2.partitions > 1) {
    const auto read_share = [&](std::uint64_t TrialTotals::* sectors) {
      return statistic_over(
          trials, [&](const TrialCounts& trial) { return rate({trial.*sectors, trial.l2_reads.all}); });
    };
    totals.l2_near_hit_rate = read_share(&TrialTotals::l2_near_hits);
    totals.l2_crossing_share = read_share(&TrialTotals::crossed_sectors);
  }
  double read = 0, written = 0, before = 0;
  for (const TrialCounts& trial : trials) {
    read += double(trial.dram_read_sectors) * sector_bytes;
    written += double(trial.dram_written_sectors) * sector_bytes;
    before += double(trial.dram_written_before_sectors) * sector_bytes;
  }
  if (totals.l2_read_hit_rate || totals.l2_write_hit_rate) {
    totals.dram_read_bytes = read / double(trials.size());
    totals.dram_write_bytes = written / double(trials.size());
    if (cycles_of(trials))
      totals.dram_write_bytes_before = before / double(trials.size());
  }
  return totals;
}

} // namespace warplens::model
