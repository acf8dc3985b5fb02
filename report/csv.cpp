// One row per site and kernel.
#include "document/csv_row.h"
#include "report/report.h"
#include "report/statistic_fields.h"
#include "result/metrics.h"
#include "result/names.h"

namespace warplens::report {
namespace {

using document::CsvRow;

constexpr const char* site_headings[] = {"kernel",        "gpu",        "id",   "file",  "line",
                                         "column",        "expression", "kind", "space", "cache_operator",
                                         "element_bytes", "object"};

void add_site(CsvRow& row, const KernelResult& kernel, const Site& site) {
  row.add(kernel.name)
      .add(kernel.gpu)
      .add(fmt::format("{:016x}", site.id))
      .add(site.file)
      .add(site.line)
      .add(site.column)
      .add(site.expression)
      .add(name_of(site.kind))
      .add(name_of(site.space))
      .add(name_of(site.cache_operator))
      .add(site.element_bytes)
      .add(site.object);
}

/// Returns the unit behind a metric's name, in brackets; empty if the name says it.
std::string_view unit_behind(const SiteMetric& metric) {
  switch (metric.unit) {
  case Unit::fraction: return " [fraction]";
  case Unit::per_request: return metric.name.ends_with("_per_request") ? "" : " [per request]";
  case Unit::count: return " [count]";
  default: return ""; // bytes, cycles and times are named so
  }
}

std::string heading() {
  CsvRow row;
  for (const char* name : site_headings)
    row.add(name);
  for (const SiteMetric& metric : site_metrics()) {
    row.add(fmt::format("{}{}", metric.name, unit_behind(metric)));
    if (metric.varies)
      row.add(fmt::format("{}_std{}", metric.name, unit_behind(metric)));
  }
  for (const char* name : {"kernel_microseconds", "kernel_microseconds_std", "bound", "time_unknown"})
    row.add(name);
  for (const std::string_view resource : names_of<Resource>)
    row.add(fmt::format("occupied_{} [fraction]", resource));
  row.add("measured_on").add("time_mean_error [fraction]");
  return row.end();
}

void add_metric(CsvRow& row, const SiteMetric& metric, const SiteResult& site) {
  const std::optional<MetricValue> value = metric.value(site);
  if (metric.varies)
    add_statistic(row, value ? value->over_trials : nullptr);
  else if (metric.unit == Unit::count || metric.unit == Unit::bytes)
    row.add(value ? fmt::format("{:.0f}", value->mean) : "");
  else
    row.add(value ? std::optional(value->mean) : std::nullopt);
}

/// Adds the kernel's time, the site's part of each resource, and how far off times of the GPU's model are.
void add_time(CsvRow& row, const KernelResult& kernel, const SiteResult& site) {
  add_statistic(row, kernel.time ? &kernel.time->microseconds : nullptr)
      .add(kernel.time ? name_of_bound(kernel.time->bound) : "")
      .add(kernel.time_unknown);
  for (std::size_t index = 0; index < resource_count; ++index)
    row.add(site.time ? std::optional(site.time->occupied[index]) : std::nullopt);
  const std::optional<Accuracy>& accuracy = kernel.accuracy;
  row.add(accuracy ? accuracy->gpu : "")
      .add(accuracy && accuracy->time ? std::optional(accuracy->time->mean) : std::nullopt);
}

std::string row_of(const KernelResult& kernel, const SiteResult& site) {
  CsvRow row;
  add_site(row, kernel, site.site);
  for (const SiteMetric& metric : site_metrics())
    add_metric(row, metric, site);
  add_time(row, kernel, site);
  return row.end();
}

} // namespace

std::string print_csv(const Result& result) {
  std::string text = heading();
  for (const KernelResult& kernel : result.kernels)
    for (const SiteResult& site : kernel.sites)
      text += row_of(kernel, site);
  return text;
}

} // namespace warplens::report
