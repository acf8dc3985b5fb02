#include "result/metrics.h"

#include "result/facts.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

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

/// Returns the object whose fields the facts of an owner are.
const Totals& fields_of(Kernel kernel, const Totals*) {
  return kernel.totals;
}
Access fields_of(Access access, const SiteResult*) {
  return access;
}

/// Makes the accessor of a fact.
template <auto member, class Object, class Owner> std::optional<MetricValue> value_in(const Owner& owner) {
  return value_of(fields_of(owner, static_cast<const Object*>(nullptr)).*member);
}

/// Makes the accessor of a member of the kernel's or the access's time.
template <auto member, class Owner> std::optional<MetricValue> time_of(const Owner& owner) {
  if (!owner.time || !std::isfinite(((*owner.time).*member).mean))
    return std::nullopt;
  return MetricValue{((*owner.time).*member).mean, &((*owner.time).*member)};
}

using enum Unit;
using enum Worse;
using enum Extent;

/// The metrics of times, which results have in an object of their own; they are the first ones.
constexpr KernelMetric times_of_kernels[] = {
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
     .extent = whole_snapshot,
     .varies = true,
     .stops_trials = true},
};

constexpr SiteMetric times_of_sites[] = {
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
     .weight = executions_of,
     .varies = true},
};

template <class Object, class Owner, auto member>
void add_metric(std::vector<std::pair<unsigned, Metric<Owner>>>& metrics, const Fact<member, Owner>& fact) {
  using Value = typename Fact<member, Owner>::Value;
  if constexpr (is_figure<Value>) {
    const MetricTraits<Owner>& traits = fact.metric;
    if (traits.column != 0)
      metrics.push_back({traits.column,
                         {.name = fact.name,
                          .unit = fact.unit,
                          .worse = traits.worse,
                          .ncu = traits.ncu,
                          .meaning = fact.meaning,
                          .value = traits.value ? traits.value : value_in<member, Object, Owner>,
                          .weight = traits.weight,
                          .extent = traits.extent,
                          .varies = std::is_same_v<Value, std::optional<Statistic>>,
                          .stops_trials = traits.stops_trials}});
  }
}

/// Returns the metrics of times, then those of the facts by their columns.
template <class Object, class Owner, class Facts>
std::vector<Metric<Owner>> joined(std::span<const Metric<Owner>> times, const Facts& facts) {
  std::vector<std::pair<unsigned, Metric<Owner>>> by_column;
  for_each_fact(facts, [&](const auto& fact) { add_metric<Object, Owner>(by_column, fact); });
  std::ranges::sort(by_column, {}, [](const auto& metric) { return metric.first; });
  std::vector<Metric<Owner>> metrics(times.begin(), times.end());
  for (const auto& [column, metric] : by_column)
    metrics.push_back(metric);
  return metrics;
}

} // namespace

double MetricValue::half_width() const {
  return over_trials ? std::max(0.0, (over_trials->ci95[1] - over_trials->ci95[0]) / 2) : 0;
}

double executions_of(const SiteResult& site) {
  return static_cast<double>(site.executions);
}

double lookups_of(const SiteResult& site) {
  return executions_of(site) * site.sectors_per_request.value_or(1);
}

double lookups_in_l2(const SiteResult& site) {
  return lookups_of(site) * beyond_first_cache(site);
}

std::optional<MetricValue> executions_metric(const SiteResult& site) {
  return value_of(executions_of(site));
}

std::optional<MetricValue> lanes_metric(const SiteResult& site) {
  return site.executions ? value_of(site.active_lanes) : std::nullopt;
}

std::span<const KernelMetric> kernel_metrics() {
  static const std::vector<KernelMetric> metrics =
      joined<Totals, KernelResult>(std::span(times_of_kernels), total_facts);
  return metrics;
}

std::span<const SiteMetric> site_metrics() {
  static const std::vector<SiteMetric> metrics =
      joined<SiteResult, SiteResult>(std::span(times_of_sites), site_facts);
  return metrics;
}

const SiteMetric& site_metric(std::string_view name) {
  const auto found = std::ranges::find(site_metrics(), name, &SiteMetric::name);
  if (found == site_metrics().end())
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
