// One row per site and kernel. RFC 4180: rows end with CR LF, fields with commas, quotes or line ends are
// quoted.
#include "report/report.h"
#include "result/metrics.h"
#include "result/names.h"

#include <cmath>

namespace warplens::report {
namespace {

class Row {
public:
  Row& add(std::string_view text) {
    if (!line_.empty() || started_)
      line_ += ',';
    started_ = true;
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += text;
      return *this;
    }
    line_ += '"';
    for (char character : text) {
      if (character == '"')
        line_ += '"';
      line_ += character;
    }
    line_ += '"';
    return *this;
  }

  Row& add(std::uint64_t value) { return add(fmt::format("{}", value)); }

  Row& add(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? add(fmt::format("{}", *value)) : add("");
  }

  /// Adds a mean and its deviation over trials.
  Row& add(const Statistic* statistic) {
    const auto figure = [&](double Statistic::* member) {
      return statistic ? std::optional(statistic->*member) : std::nullopt;
    };
    return add(figure(&Statistic::mean)).add(figure(&Statistic::std_deviation));
  }

  std::string end() const { return line_ + "\r\n"; }

private:
  std::string line_;
  bool started_ = false;
};

constexpr const char* site_headings[] = {"kernel",        "gpu",        "id",   "file",  "line",
                                         "column",        "expression", "kind", "space", "cache_operator",
                                         "element_bytes", "object"};

void add_site(Row& row, const KernelResult& kernel, const Site& site) {
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
  Row row;
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

void add_metric(Row& row, const SiteMetric& metric, const SiteResult& site) {
  const std::optional<MetricValue> value = metric.value(site);
  if (metric.varies)
    row.add(value ? value->over_trials : nullptr);
  else if (metric.unit == Unit::count || metric.unit == Unit::bytes)
    row.add(value ? fmt::format("{:.0f}", value->mean) : "");
  else
    row.add(value ? std::optional(value->mean) : std::nullopt);
}

/// Adds the kernel's time, the site's part of each resource, and how far off times of the GPU's model are.
void add_time(Row& row, const KernelResult& kernel, const SiteResult& site) {
  row.add(kernel.time ? &kernel.time->microseconds : nullptr)
      .add(kernel.time ? name_of_bound(kernel.time->bound) : "")
      .add(kernel.time_unknown);
  for (std::size_t index = 0; index < resource_count; ++index)
    row.add(site.time ? std::optional(site.time->occupied[index]) : std::nullopt);
  const std::optional<Accuracy>& accuracy = kernel.accuracy;
  row.add(accuracy ? accuracy->gpu : "")
      .add(accuracy && accuracy->time ? std::optional(accuracy->time->mean) : std::nullopt);
}

std::string row_of(const KernelResult& kernel, const SiteResult& site) {
  Row row;
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
