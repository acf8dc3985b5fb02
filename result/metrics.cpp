#include "result/metrics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace warplens {
namespace {

std::optional<MetricValue> value_of(const std::optional<Statistic>& statistic) {
  if (!statistic || !std::isfinite(statistic->mean))
    return std::nullopt;
  return MetricValue{statistic->mean, &*statistic};
}

std::optional<MetricValue> value_of(double number) {
  return std::isfinite(number) ? std::optional(MetricValue{number}) : std::nullopt;
}

template <class Number> std::optional<MetricValue> value_of(const std::optional<Number>& number) {
  return number ? value_of(static_cast<double>(*number)) : std::nullopt;
}

using Kernel = const KernelResult&;
using Access = const SiteResult&;

/// Makes the accessor of a member of Totals, of the kernel's time, of an access or of its time.
template <auto member> std::optional<MetricValue> total(Kernel kernel) {
  return value_of(kernel.totals.*member);
}
template <auto member> std::optional<MetricValue> site(Access access) {
  return value_of(access.*member);
}
template <auto member, class Owner> std::optional<MetricValue> time_of(const Owner& owner) {
  if (!owner.time || !std::isfinite(((*owner.time).*member).mean))
    return std::nullopt;
  return MetricValue{((*owner.time).*member).mean, &((*owner.time).*member)};
}

std::optional<MetricValue> executions_of(Access access) {
  return value_of(static_cast<double>(access.executions));
}

std::optional<MetricValue> lanes_of(Access access) {
  return access.executions ? value_of(access.active_lanes) : std::nullopt;
}

double executions(Access access) {
  return static_cast<double>(access.executions);
}

double lookups(Access access) {
  return executions(access) * access.sectors_per_request.value_or(1);
}

/// Returns the lookups that the first cache passes on.
double lookups_in_l2(Access access) {
  return lookups(access) * beyond_first_cache(access);
}

using enum Unit;
using enum Worse;
using enum Extent;

constexpr KernelMetric of_kernels[] = {
    {.name = "microseconds",
     .unit = microseconds,
     .worse = high,
     .ncu = "gpu__time_duration.sum",
     .meaning = "time of the whole launch",
     .value = time_of<&KernelTime::microseconds, KernelResult>,
     .varies = true},
    {.name = "cycles",
     .unit = cycles,
     .worse = high,
     .ncu = "sm__cycles_elapsed.max",
     .meaning = "cycles of the SM clock, of the blocks in the snapshot",
     .value = time_of<&KernelTime::cycles, KernelResult>,
     .extent = of_snapshot,
     .varies = true,
     .stops_trials = true},
    {.name = "l1_read_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
     .meaning = "hit rate of loads in the L1",
     .value = total<&Totals::l1_read_hit_rate>,
     .varies = true,
     .stops_trials = true},
    {.name = "l2_read_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "lts__t_sector_op_read_hit_rate.pct",
     .meaning = "hit rate of loads in the L2",
     .value = total<&Totals::l2_read_hit_rate>,
     .varies = true,
     .stops_trials = true},
    {.name = "l2_write_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "lts__t_sector_op_write_hit_rate.pct",
     .meaning = "hit rate of stores and atomics in the L2",
     .value = total<&Totals::l2_write_hit_rate>,
     .varies = true,
     .stops_trials = true},
    {.name = "constant_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "idc__requests_lookup_hit.sum",
     .meaning = "hit rate of addresses in the SMs' constant caches",
     .value = total<&Totals::constant_hit_rate>,
     .varies = true,
     .stops_trials = true},
    {.name = "constant_group_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "",
     .meaning = "hit rate in the constant caches of groups of SMs",
     .value = total<&Totals::constant_group_hit_rate>,
     .varies = true,
     .stops_trials = true},
    {.name = "l2_near_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "",
     .meaning = "hit rate of loads in the L2 partition next to the SM",
     .value = total<&Totals::l2_near_hit_rate>,
     .varies = true},
    {.name = "l2_crossing_share",
     .unit = fraction,
     .worse = high,
     .ncu = "",
     .meaning = "sectors that cross to the other L2 partition, per sector that loads look up",
     .value = total<&Totals::l2_crossing_share>,
     .varies = true},
    {.name = "dram_latency_ns",
     .unit = nanoseconds,
     .worse = high,
     .ncu = "",
     .meaning = "mean latency of a read of DRAM, from the SM and back",
     .value = total<&Totals::dram_latency_ns>,
     .varies = true,
     .stops_trials = true},
    {.name = "dram_read_bytes",
     .unit = bytes,
     .worse = high,
     .ncu = "dram__bytes_read.sum",
     .meaning = "bytes read from DRAM",
     .value = total<&Totals::dram_read_bytes>,
     .extent = of_snapshot},
    {.name = "dram_write_bytes",
     .unit = bytes,
     .worse = high,
     .ncu = "dram__bytes_write.sum",
     .meaning = "bytes written to DRAM",
     .value = total<&Totals::dram_write_bytes>,
     .extent = of_snapshot},
    {.name = "dram_write_bytes_before",
     .unit = bytes,
     .worse = neither,
     .ncu = "",
     .meaning = "bytes written to DRAM that were in the L2 before",
     .value = total<&Totals::dram_write_bytes_before>,
     .extent = of_snapshot},
    {.name = "cold_miss_share",
     .unit = fraction,
     .worse = neither,
     .ncu = "",
     .meaning = "share of first touches among the sectors that loads miss in the L2",
     .value = total<&Totals::cold_miss_share>},
};

constexpr SiteMetric of_sites[] = {
    {.name = "time_share",
     .unit = fraction,
     .worse = high,
     .ncu = "",
     .meaning = "share of the kernel's time",
     .value = time_of<&SiteTime::share, SiteResult>,
     .varies = true},
    {.name = "waited_cycles",
     .unit = cycles,
     .worse = high,
     .ncu = "smsp__average_warps_issue_stalled_long_scoreboard",
     .meaning = "warp-cycles per execution in which warps wait for its result, or at the barrier",
     .value = time_of<&SiteTime::waited, SiteResult>,
     .weight = executions,
     .varies = true},
    {.name = "latency_ns",
     .unit = nanoseconds,
     .worse = high,
     .ncu = "",
     .meaning = "expected latency of a request",
     .value = site<&SiteResult::latency_ns>,
     .weight = executions,
     .varies = true,
     .stops_trials = true},
    {.name = "latency_share",
     .unit = fraction,
     .worse = high,
     .ncu = "",
     .meaning = "share of the kernel's latency",
     .value = site<&SiteResult::latency_share>},
    {.name = "l1_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
     .meaning = "L1 hit rate",
     .value = site<&SiteResult::l1_hit_rate>,
     .weight = lookups,
     .varies = true,
     .stops_trials = true},
    {.name = "l2_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "lts__t_sector_op_read_hit_rate.pct",
     .meaning = "L2 hit rate",
     .value = site<&SiteResult::l2_hit_rate>,
     .weight = lookups_in_l2,
     .varies = true,
     .stops_trials = true},
    {.name = "constant_hit_rate",
     .unit = fraction,
     .worse = low,
     .ncu = "idc__requests_lookup_hit.sum",
     .meaning = "hit rate of the SM's constant cache",
     .value = site<&SiteResult::constant_hit_rate>,
     .weight = executions,
     .varies = true,
     .stops_trials = true},
    {.name = "sectors_per_request",
     .unit = per_request,
     .worse = high,
     .ncu = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
     .meaning = "32-byte sectors per request",
     .value = site<&SiteResult::sectors_per_request>,
     .weight = executions},
    {.name = "bank_conflicts",
     .unit = per_request,
     .worse = high,
     .ncu = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
     .meaning = "shared memory: extra passes per request",
     .value = site<&SiteResult::bank_conflicts>,
     .weight = executions},
    {.name = "constant_addresses",
     .unit = per_request,
     .worse = high,
     .ncu = "idc__requests.sum",
     .meaning = "constant memory: addresses per request",
     .value = site<&SiteResult::constant_addresses>,
     .weight = executions},
    {.name = "active_lanes",
     .unit = per_request,
     .worse = low,
     .ncu = "smsp__thread_inst_executed_per_inst_executed.ratio",
     .meaning = "active lanes of 32, mean",
     .value = lanes_of,
     .weight = executions},
    {.name = "executions",
     .unit = count,
     .worse = neither,
     .ncu = "smsp__inst_executed",
     .meaning = "warp-level executions in the snapshot",
     .value = executions_of,
     .extent = of_snapshot},
    {.name = "bytes_used",
     .unit = bytes,
     .worse = neither,
     .ncu = "smsp__sass_data_bytes_mem_global_op_ld.sum",
     .meaning = "distinct bytes that lanes requested",
     .value = site<&SiteResult::bytes_used>,
     .extent = of_snapshot},
    {.name = "bytes_moved",
     .unit = bytes,
     .worse = high,
     .ncu = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
     .meaning = "bytes of all sectors touched",
     .value = site<&SiteResult::bytes_moved>,
     .extent = of_snapshot},
};

} // namespace

double MetricValue::half_width() const {
  return over_trials ? std::max(0.0, (over_trials->ci95[1] - over_trials->ci95[0]) / 2) : 0;
}

std::span<const KernelMetric> kernel_metrics() {
  return of_kernels;
}

std::span<const SiteMetric> site_metrics() {
  return of_sites;
}

const SiteMetric& site_metric(std::string_view name) {
  const auto found = std::ranges::find(of_sites, name, &SiteMetric::name);
  if (found == std::end(of_sites))
    throw std::logic_error("no metric of an access has the name " + std::string(name));
  return *found;
}

double beyond_first_cache(const SiteResult& access) {
  const std::optional<Statistic>& first = access.l1_hit_rate ? access.l1_hit_rate : access.constant_hit_rate;
  return first ? 1 - first->mean : 1;
}

bool are_all_executed(const Result& result) {
  return std::ranges::all_of(result.kernels, [](const KernelResult& kernel) {
    return kernel.executed && kernel.executed->execution;
  });
}

} // namespace warplens
