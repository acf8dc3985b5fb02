#include "model/figures.h"

#include "model/numeric/statistics.h"
#include "vocabulary/geometry.h"

#include <algorithm>

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

/// Returns the statistic over those values that are not empty; absent if there are fewer than two.
std::optional<Statistic> statistic_of(const TrialValues::Values& values) {
  std::vector<double> seen;
  for (const std::optional<double>& value : values)
    if (value)
      seen.push_back(*value);
  if (seen.size() < 2)
    return std::nullopt;
  return summarize(seen);
}

std::optional<double> rate(const Lookups& lookups) {
  if (lookups.all == 0)
    return std::nullopt;
  return double(lookups.hits) / double(lookups.all);
}

std::optional<double> dram_latency(const TrialCounts& trial) {
  if (trial.dram_reads == 0)
    return std::nullopt;
  return trial.dram_latency_ns / double(trial.dram_reads);
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

LatencyParts latency_parts(const SiteSummary& summary, std::size_t index, std::span<const TrialCounts> trials,
                           const Gpu& gpu) {
  const double executions = double(summary.executions);
  const auto of_level = [&](Level level) {
    double sum = 0;
    for (const TrialCounts& trial : trials)
      sum += trial.sites[index].latency_ns[std::size_t(level)];
    return sum / double(trials.size()) / executions;
  };
  return {of_level(Level::l1), of_level(Level::l2), of_level(Level::dram),
          shared_ns(summary, gpu) / executions,
          of_level(Level::constant) + constant_requests_ns(summary, gpu) / executions};
}

} // namespace

SiteStatistics site_statistics(const SiteSummary& summary, std::size_t index,
                               std::span<const TrialCounts> trials, const Gpu& gpu) {
  const double fixed_ns = shared_ns(summary, gpu) + constant_requests_ns(summary, gpu);
  const auto over = [&](auto&& value) { return statistic_of(values(trials, value)); };
  return {over([&](const TrialCounts& trial) { return rate(trial.sites[index].l1); }),
          over([&](const TrialCounts& trial) { return rate(trial.sites[index].l2); }),
          over([&](const TrialCounts& trial) { return rate(trial.sites[index].constant); }),
          over([&](const TrialCounts& trial) {
            return std::optional((trial.sites[index].all_latency_ns() + fixed_ns) /
                                 double(summary.executions));
          })};
}

SiteResult site_result(const SiteSummary& summary, std::size_t index, const Site& site,
                       std::span<const TrialCounts> trials, const Gpu& gpu) {
  SiteResult result;
  result.site = site;
  result.site.space = observed_space(summary);
  result.executions = summary.executions;
  result.active_lanes = double(summary.active_lanes) / double(summary.executions);
  if (const std::uint64_t elsewhere = summary.executions - summary.shared; elsewhere != 0) {
    result.sectors_per_request = double(summary.sectors) / double(elsewhere);
    result.bytes_used = summary.bytes_used;
    result.bytes_moved = summary.sectors * sector_bytes;
  }
  if (summary.shared != 0)
    result.bank_conflicts = extra_wavefronts(summary) / double(summary.shared);
  SiteStatistics statistics = site_statistics(summary, index, trials, gpu);
  result.l1_hit_rate = std::move(statistics.l1_hit_rate);
  result.l2_hit_rate = std::move(statistics.l2_hit_rate);
  result.constant_hit_rate = std::move(statistics.constant_hit_rate);
  result.latency_ns = std::move(statistics.latency_ns);
  result.latency_parts = latency_parts(summary, index, trials, gpu);
  return result;
}

TrialValues values_of(std::span<const TrialCounts> trials) {
  TrialValues of;
  of.l1_read_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.l1_reads); });
  of.l2_read_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.l2_reads); });
  of.l2_write_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.l2_writes); });
  of.constant_hit_rate = values(trials, [](const TrialCounts& trial) { return rate(trial.constant_reads); });
  of.constant_group_hit_rate =
      values(trials, [](const TrialCounts& trial) { return rate(trial.constant_group_reads); });
  of.dram_latency_ns = values(trials, dram_latency);
  return of;
}

Totals totals_of(std::span<const TrialCounts> trials) {
  const TrialValues values = values_of(trials);
  Totals totals;
  totals.l1_read_hit_rate = statistic_of(values.l1_read_hit_rate);
  totals.l2_read_hit_rate = statistic_of(values.l2_read_hit_rate);
  totals.l2_write_hit_rate = statistic_of(values.l2_write_hit_rate);
  totals.constant_hit_rate = statistic_of(values.constant_hit_rate);
  totals.constant_group_hit_rate = statistic_of(values.constant_group_hit_rate);
  totals.dram_latency_ns = statistic_of(values.dram_latency_ns);
  double read = 0, written = 0;
  for (const TrialCounts& trial : trials) {
    read += double(trial.dram_read_sectors) * sector_bytes;
    written += double(trial.dram_written_sectors) * sector_bytes;
  }
  if (totals.l2_read_hit_rate || totals.l2_write_hit_rate) {
    totals.dram_read_bytes = read / double(trials.size());
    totals.dram_write_bytes = written / double(trials.size());
  }
  return totals;
}

} // namespace warplens::model
