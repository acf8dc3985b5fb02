#include "significance/from_results.h"

#include "support/display_name.h"
#include "vocabulary/geometry.h"

#include <algorithm>
#include <cmath>

namespace warplens::significance {
namespace {

/// Returns by what figures of the snapshot are multiplied to become those of all launches.
double scale_of(const KernelResult& kernel) {
  const double blocks = static_cast<double>(kernel.grid.count());
  const double snapshots_in_grid =
      kernel.snapshot.blocks == 0 ? 1 : blocks / static_cast<double>(kernel.snapshot.blocks);
  return snapshots_in_grid * static_cast<double>(std::max<std::uint64_t>(kernel.launches, 1));
}

double misses(const std::optional<Statistic>& hit_rate) {
  return hit_rate ? 1 - std::clamp(hit_rate->mean, 0.0, 1.0) : 1;
}

/// Adds the counters of one access; `scale` multiplies those of the snapshot.
void add_access(RegionBuilder& builder, const SiteResult& site, double scale) {
  const SourcePosition place{site.site.file, site.site.line, site.site.expression};
  const auto add = [&](const char* kind, double value) {
    builder.add(fmt::format("{} {}:{}:{}", kind, site.site.file, site.site.line, site.site.column), kind,
                place, scale * value);
  };
  const auto executions = static_cast<double>(site.executions);
  add("executions", executions);
  if (site.site.kind == AccessKind::atomic)
    add("atomics", executions);
  if (site.bytes_moved && site.site.space != Space::shared && site.site.space != Space::constant) {
    const double sectors = static_cast<double>(*site.bytes_moved) / sector_bytes;
    const double to_l2 = sectors * misses(site.l1_hit_rate);
    add("l1_sectors", sectors);
    add("l2_sectors", to_l2);
    add("dram_sectors", to_l2 * misses(site.l2_hit_rate));
  }
  if (site.bank_conflicts) {
    add("shared_passes", executions * (1 + *site.bank_conflicts));
    add("bank_conflicts", executions * *site.bank_conflicts);
  }
  if (site.constant_addresses)
    add("constant_misses", executions * *site.constant_addresses * misses(site.constant_hit_rate));
}

/// Adds the arithmetic instructions of a line; `scale` multiplies those of the snapshot.
void add_arithmetic(RegionBuilder& builder, const LineTime& line, double scale) {
  constexpr std::pair<InstructionKind, const char*> kinds[] = {
      {InstructionKind::fp32, "fp32_instructions"},
      {InstructionKind::fp64, "fp64_instructions"},
      {InstructionKind::fp16, "fp16_instructions"},
      {InstructionKind::tensor, "tensor_instructions"}};
  for (const auto& [kind, name] : kinds)
    if (const double warps = (*line.work)[static_cast<std::size_t>(kind)].warps; warps > 0)
      builder.add(fmt::format("{} {}:{}", name, line.file, line.line), name,
                  SourcePosition{line.file, line.line, ""}, scale * warps);
}

/// Returns the least share of the launch in which an SM has warps, mean over SMs: the resident warps,
/// relative to the most that an SM holds of this launch at once. None: it is not known.
std::optional<double> utilisation_of(const KernelResult& kernel) {
  if (!kernel.warps || kernel.occupancy.sms == 0 || kernel.occupancy.blocks_per_sm == 0)
    return std::nullopt;
  const double blocks = std::ceil(static_cast<double>(kernel.grid.count()) / kernel.occupancy.sms);
  const auto warps_per_block = static_cast<double>(warps_of(kernel.block.count()));
  const double most = std::min<double>(blocks, kernel.occupancy.blocks_per_sm) * warps_per_block;
  return std::min(kernel.warps->resident / most, 1.0);
}

/// The targets of a run, summed over its modelled launches.
struct Sums {
  double seconds = 0, latency_ns = 0, dram_bytes = 0, used_seconds = 0;
  bool has_time = true, has_dram = true, has_utilisation = true;
};

/// Adds a kernel's counters to the current run, and its targets to the sums; `parts` launches of it were
/// modelled apart.
void add_kernel(RegionBuilder& builder, const KernelResult& kernel, double parts, Sums& sums) {
  const double scale = scale_of(kernel) / parts;
  for (const SiteResult& site : kernel.sites) {
    if (!is_access(site.site.kind))
      continue;
    add_access(builder, site, scale);
    if (site.latency_ns)
      sums.latency_ns += scale * static_cast<double>(site.executions) * site.latency_ns->mean;
  }
  if (kernel.executed)
    builder.add("instructions", "instructions", std::nullopt,
                scale * static_cast<double>(kernel.executed->instructions));
  const double launches = static_cast<double>(std::max<std::uint64_t>(kernel.launches, 1));
  sums.has_time &= kernel.time.has_value();
  for (const LineTime& line : kernel.lines)
    if (line.work)
      add_arithmetic(builder, line, scale);
  const auto utilisation = utilisation_of(kernel);
  sums.has_utilisation &= utilisation.has_value();
  if (kernel.time) {
    const double seconds = kernel.time->microseconds.mean * 1e-6 * launches / parts;
    sums.seconds += seconds;
    sums.used_seconds += seconds * utilisation.value_or(0);
  }
  sums.has_dram &= kernel.totals.dram_read_bytes.has_value() || kernel.totals.dram_write_bytes.has_value();
  sums.dram_bytes +=
      scale * (kernel.totals.dram_read_bytes.value_or(0) + kernel.totals.dram_write_bytes.value_or(0));
}

std::string at_line(const SiteResult& site) {
  return fmt::format("{}:{} {}", site.site.file, site.site.line, site.site.expression);
}

bool is_reused(const ObjectResult& object) {
  constexpr double min_touches = 1.5;
  return object.footprint_bytes > 0 &&
         static_cast<double>(object.bytes_moved) >= min_touches * static_cast<double>(object.footprint_bytes);
}

/// Returns what the profile shows of the kernel, for suggestions.
Observations observe(const KernelResult& kernel) {
  Observations seen;
  for (const ObjectResult& object : kernel.objects) {
    const bool is_global = std::ranges::any_of(kernel.sites, [&](const SiteResult& site) {
      return site.site.object == object.name &&
             (site.site.space == Space::global || site.site.space == Space::generic);
    });
    if (!is_global || object.block_footprint_bytes.value_or(0) == 0 || kernel.snapshot.blocks == 0)
      continue;
    const double touches = static_cast<double>(object.bytes_moved) /
                           static_cast<double>(kernel.snapshot.blocks) /
                           static_cast<double>(*object.block_footprint_bytes);
    if (!seen.reuse || touches > seen.reuse->touches_per_sector)
      seen.reuse = {object.name, touches, *object.block_footprint_bytes};
  }
  for (const SiteResult& site : kernel.sites) {
    if (!is_access(site.site.kind) || site.executions == 0)
      continue;
    if (site.bank_conflicts && (!seen.bank_conflicts || *site.bank_conflicts > seen.bank_conflicts->value))
      seen.bank_conflicts = {at_line(site), *site.bank_conflicts};
    if (!seen.active_lanes || site.active_lanes < seen.active_lanes->value)
      seen.active_lanes = {at_line(site), site.active_lanes};
    const auto object = std::ranges::find(kernel.objects, site.site.object, &ObjectResult::name);
    constexpr double min_misses = 0.05;
    const double missed = site.l1_hit_rate ? misses(site.l1_hit_rate) : 0;
    if (missed >= min_misses && object != kernel.objects.end() && is_reused(*object) &&
        (!seen.l1_misses || missed > seen.l1_misses->value))
      seen.l1_misses = {at_line(site), missed};
  }
  return seen;
}

double work_of(const KernelResult& kernel) {
  return static_cast<double>(kernel.snapshot.warp_accesses) * scale_of(kernel);
}

} // namespace

RunSet run_set_of(const std::vector<ProfiledRun>& profiles) {
  using Key = std::pair<std::string, std::string>;
  std::vector<Key> keys; // in the order of their first appearance
  std::map<Key, std::vector<std::pair<const ProfiledRun*, std::vector<const KernelResult*>>>> by_key;
  bool several_gpus = false;
  for (const ProfiledRun& profile : profiles)
    for (const KernelResult& kernel : profile.result.kernels) {
      auto& runs = by_key[{kernel.name, kernel.gpu}];
      if (runs.empty())
        keys.emplace_back(kernel.name, kernel.gpu);
      if (runs.empty() || runs.back().first != &profile)
        runs.push_back({&profile, {}});
      runs.back().second.push_back(&kernel);
      several_gpus |= kernel.gpu != profiles.front().result.kernels.front().gpu;
    }

  RunSet set;
  for (const Key& key : keys) {
    Region region;
    region.kernel = key.first;
    region.gpu = key.second;
    region.name = display_name(key.first) + (several_gpus ? " on " + key.second : "");
    RegionBuilder builder(region);
    const KernelResult* largest = nullptr;
    for (const auto& [profile, kernels] : by_key[key]) {
      builder.begin_run(profile->parameters);
      Sums sums;
      region.launches.push_back(static_cast<double>(std::max<std::uint64_t>(kernels.front()->launches, 1)));
      for (const KernelResult* kernel : kernels) {
        add_kernel(builder, *kernel, static_cast<double>(kernels.size()), sums);
        if (largest == nullptr || work_of(*kernel) > work_of(*largest))
          largest = kernel;
      }
      builder.set_target("latency", sums.latency_ns);
      if (sums.has_time)
        builder.set_target(modelled_time, sums.seconds);
      if (sums.has_time && sums.has_utilisation)
        builder.set_target(modelled_utilisation, sums.used_seconds / sums.seconds);
      if (sums.has_dram)
        builder.set_target("dram_bytes", sums.dram_bytes);
    }
    // An access or a line that a run did not execute has counted nothing there.
    for (Counter& counter : region.counters)
      if (counter.place)
        std::ranges::replace_if(counter.values, [](double value) { return value != value; }, 0.0);
    region.observations = observe(*largest);
    average_repeats(region);
    set.regions.push_back(std::move(region));
  }
  return set;
}

} // namespace warplens::significance
