#include "report/columns.h"

#include "judge/costly_lines.h"
#include "result/figure_text.h"

#include <algorithm>

namespace warplens::report {
namespace {

std::optional<MetricValue> used_share(const SiteResult& site) {
  if (!site.bytes_used || !site.bytes_moved || *site.bytes_moved == 0)
    return std::nullopt;
  return MetricValue{static_cast<double>(*site.bytes_used) / static_cast<double>(*site.bytes_moved)};
}

double bytes_moved(const SiteResult& site) {
  return static_cast<double>(site.bytes_moved.value_or(0));
}

/// A ratio of two metrics, which results do not hold.
constexpr SiteMetric used_of_moved = {.name = "bytes_used_share",
                                      .unit = Unit::fraction,
                                      .worse = Worse::low,
                                      .ncu = "",
                                      .meaning = "bytes that lanes requested over bytes moved",
                                      .value = used_share,
                                      .weight = bytes_moved};

/// Returns the latency of an access that something waits for: of stores, what is modelled is when the SM is
/// rid of them.
std::optional<MetricValue> awaited_latency(const SiteResult& site) {
  return site.site.kind == AccessKind::store ? std::nullopt : site_metric("latency_ns").value(site);
}

const SiteMetric& latency_metric() {
  static const SiteMetric metric = [] {
    SiteMetric latency = site_metric("latency_ns");
    latency.meaning = "expected latency of a request; nothing waits for stores";
    latency.value = awaited_latency;
    return latency;
  }();
  return metric;
}

using Value = const MetricValue&;

std::string as_share(Value value) {
  return share(value.mean);
}
std::string as_rate(Value value) {
  return rate(*value.over_trials);
}
std::string as_nanoseconds(Value value) {
  return nanoseconds(*value.over_trials);
}
std::string as_cycles(Value value) {
  return cycles(*value.over_trials);
}
std::string as_ratio(Value value) {
  return ratio(value.mean);
}
std::string as_percent(Value value) {
  return percent(value.mean);
}
std::string as_count(Value value) {
  return short_count(value.mean);
}

} // namespace

std::string Column::text(const SiteResult& site) const {
  const std::optional<MetricValue> value = metric.value(site);
  return value ? text_of(*value) : "-";
}

std::optional<double> Column::sort_value(const SiteResult& site) const {
  const std::optional<MetricValue> value = metric.value(site);
  return value ? std::optional(metric.worse == Worse::low ? -value->mean : value->mean) : std::nullopt;
}

std::string Column::description() const {
  return fmt::format("{}{}", metric.meaning, metric.worse == Worse::low ? "; sorts by the lowest" : "");
}

const std::vector<Column>& all_columns() {
  static const std::vector<Column> columns = {
      {"time", site_metric("time_share"), "time", "%", 4, "{} % of the time", as_share},
      {"waited", site_metric("waited_cycles"), "waited", "cycles", 8, "{} cycles waited", as_cycles},
      {"share", site_metric("latency_share"), "lat", "%", 3, "{} % of the latency", as_share},
      {"latency", latency_metric(), "latency", "ns", 8, "{} ns", as_nanoseconds},
      {"l1", site_metric("l1_hit_rate"), "L1 hit", "%", 8, "L1 {} %", as_rate},
      {"l2", site_metric("l2_hit_rate"), "L2 hit", "%", 8, "L2 {} %", as_rate},
      {"sectors", site_metric("sectors_per_request"), "sect/", "req", 5, "{} sectors/request", as_ratio},
      {"executions", site_metric("executions"), "warp", "execs", 5, "{} executions", as_count},
      {"lanes", site_metric("active_lanes"), "active", "lanes", 6, "{} lanes active", as_ratio},
      {"used", used_of_moved, "bytes", "used%", 5, "{} % of the bytes used", as_percent},
      {"moved", site_metric("bytes_moved"), "bytes", "moved", 5, "{} bytes moved", as_count},
      {"conflicts", site_metric("bank_conflicts"), "extra", "pass", 5, "{} extra passes", as_ratio},
      {"constant", site_metric("constant_hit_rate"), "const", "hit %", 8, "constant cache {} %", as_rate},
  };
  return columns;
}

std::string figures_of(const SiteResult& site) {
  std::vector<std::string> figures;
  for (const Column& column : all_columns())
    if (const std::string text = column.text(site); text != "-")
      figures.push_back(fmt::format(fmt::runtime(column.phrase), text));
  return fmt::format("{}", fmt::join(figures, ", "));
}

const Column& cost_column(const KernelResult& kernel) {
  const SiteMetric* const cost = &judge::cost_metric(kernel);
  return *std::ranges::find(all_columns(), cost, [](const Column& column) { return &column.metric; });
}

std::vector<const Column*> default_columns(std::span<const KernelResult> kernels) {
  const bool reads_constants = std::ranges::any_of(kernels, [](const KernelResult& kernel) {
    return std::ranges::any_of(kernel.sites,
                               [](const SiteResult& site) { return site.constant_hit_rate.has_value(); });
  });
  std::vector<const Column*> columns;
  for (const KernelResult& kernel : kernels)
    if (const Column* cost = &cost_column(kernel); std::ranges::find(columns, cost) == columns.end())
      columns.push_back(cost);
  for (const std::string_view name : {"latency", "l1", "l2", "constant", "sectors", "executions"})
    if (name != "constant" || reads_constants)
      columns.push_back(*column_named(name));
  return columns;
}

Expected<const Column*> column_named(std::string_view name) {
  const auto& columns = all_columns();
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found != columns.end())
    return &*found;
  std::string names;
  for (const Column& column : columns)
    names += (names.empty() ? "" : ", ") + std::string(column.name);
  return fail("there is no figure '{}'; there are {}", name, names);
}

} // namespace warplens::report
