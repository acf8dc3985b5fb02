#include "report/compared_figures.h"

#include "report/findings.h"

#include <algorithm>
#include <cmath>

namespace warplens::report {
namespace {

std::optional<MeasuredValue> of(const std::optional<Statistic>& statistic) {
  if (!statistic || !std::isfinite(statistic->mean))
    return std::nullopt;
  return MeasuredValue{statistic->mean, std::max(0.0, (statistic->ci95[1] - statistic->ci95[0]) / 2)};
}

template <class Number> std::optional<MeasuredValue> of(const std::optional<Number>& number) {
  return number ? std::optional(MeasuredValue{static_cast<double>(*number), 0}) : std::nullopt;
}

template <class Timed, class Time>
std::optional<MeasuredValue> of_time(const Timed& result, Statistic Time::* figure) {
  return result.time ? of(std::optional((*result.time).*figure)) : std::nullopt;
}

double executions(const SiteResult& site) {
  return static_cast<double>(site.executions);
}

double lookups(const SiteResult& site) {
  return executions(site) * site.sectors_per_request.value_or(1);
}

/// Returns the lookups that the first cache passes on.
double lookups_in_l2(const SiteResult& site) {
  return lookups(site) * beyond_first_cache(site);
}

using enum Worse;
using enum Extent;
using K = const KernelResult&;
using S = const SiteResult&;

constexpr TotalFigure total_figures[] = {
    {"microseconds", high, [](K kernel) { return of_time(kernel, &KernelTime::microseconds); }},
    {"cycles", high, [](K kernel) { return of_time(kernel, &KernelTime::cycles); }, of_snapshot},
    {"l1_read_hit_rate", low, [](K kernel) { return of(kernel.totals.l1_read_hit_rate); }},
    {"l2_read_hit_rate", low, [](K kernel) { return of(kernel.totals.l2_read_hit_rate); }},
    {"l2_write_hit_rate", low, [](K kernel) { return of(kernel.totals.l2_write_hit_rate); }},
    {"constant_hit_rate", low, [](K kernel) { return of(kernel.totals.constant_hit_rate); }},
    {"constant_group_hit_rate", low, [](K kernel) { return of(kernel.totals.constant_group_hit_rate); }},
    {"dram_latency_ns", high, [](K kernel) { return of(kernel.totals.dram_latency_ns); }},
    {"dram_read_bytes", high, [](K kernel) { return of(kernel.totals.dram_read_bytes); }, of_snapshot},
    {"dram_write_bytes", high, [](K kernel) { return of(kernel.totals.dram_write_bytes); }, of_snapshot},
    {"cold_miss_share", neither, [](K kernel) { return of(kernel.totals.cold_miss_share); }},
};

constexpr SiteFigure site_figures[] = {
    {"time_share", high, [](S site) { return of_time(site, &SiteTime::share); }, nullptr},
    {"waited_cycles", high, [](S site) { return of_time(site, &SiteTime::waited); }, executions},
    {"latency_ns", high, [](S site) { return of(site.latency_ns); }, executions},
    {"latency_share", high, [](S site) { return of(site.latency_share); }, nullptr},
    {"l1_hit_rate", low, [](S site) { return of(site.l1_hit_rate); }, lookups},
    {"l2_hit_rate", low, [](S site) { return of(site.l2_hit_rate); }, lookups_in_l2},
    {"constant_hit_rate", low, [](S site) { return of(site.constant_hit_rate); }, executions},
    {"sectors_per_request", high, [](S site) { return of(site.sectors_per_request); }, executions},
    {"bank_conflicts", high, [](S site) { return of(site.bank_conflicts); }, executions},
    {"active_lanes", low, [](S site) { return of(std::optional(site.active_lanes)); }, executions},
    {"executions", neither, [](S site) { return of(std::optional(site.executions)); }, nullptr, of_snapshot},
    {"bytes_used", neither, [](S site) { return of(site.bytes_used); }, nullptr, of_snapshot},
    {"bytes_moved", high, [](S site) { return of(site.bytes_moved); }, nullptr, of_snapshot},
};

} // namespace

std::span<const TotalFigure> compared_totals() {
  return total_figures;
}

std::span<const SiteFigure> compared_site_figures() {
  return site_figures;
}

std::optional<MeasuredValue> together(const SiteFigure& figure, std::span<const SiteResult* const> sites) {
  double weights = 0, sum = 0, squares = 0;
  std::size_t seen = 0;
  std::optional<MeasuredValue> only;
  for (const SiteResult* site : sites) {
    const std::optional<MeasuredValue> value = figure.value(*site);
    if (!value)
      continue;
    const double weight = figure.weight ? figure.weight(*site) : 1;
    weights += weight;
    sum += weight * value->mean;
    squares += weight * weight * value->half_width * value->half_width;
    only = ++seen == 1 ? value : std::nullopt;
  }
  if (seen <= 1)
    return only;
  if (!figure.weight)
    return MeasuredValue{sum, std::sqrt(squares)};
  return weights > 0 ? std::optional(MeasuredValue{sum / weights, std::sqrt(squares) / weights})
                     : std::nullopt;
}

} // namespace warplens::report
