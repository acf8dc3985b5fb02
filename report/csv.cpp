// One row per site and kernel. RFC 4180: rows end with CR LF, fields with commas, quotes or line ends are
// quoted.
#include "report/report.h"
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

  Row& add(const std::optional<std::uint64_t>& value) { return value ? add(*value) : add(""); }

  Row& add(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? add(fmt::format("{}", *value)) : add("");
  }

  Row& add(const std::optional<Statistic>& value) {
    const auto figure = [&](double member) { return value ? std::optional(member) : std::nullopt; };
    const Statistic statistic = value.value_or(Statistic{});
    return add(figure(statistic.mean)).add(figure(statistic.std_deviation));
  }

  std::string end() const { return line_ + "\r\n"; }

private:
  std::string line_;
  bool started_ = false;
};

/// Returns the columns after those of every result: the kernel's time, the site's part in it, and how far off
/// times of the GPU's model are.
std::vector<std::string> time_headings() {
  std::vector<std::string> names = {"kernel_microseconds", "kernel_microseconds_std", "bound",
                                    "time_share",          "time_share_std",          "waited_cycles",
                                    "waited_cycles_std"};
  for (const std::string_view resource : names_of<Resource>)
    names.push_back(fmt::format("occupied_{}", resource));
  names.insert(names.end(), {"measured_on", "time_mean_error"});
  return names;
}

void add_time(Row& row, const KernelResult& kernel, const SiteResult& site) {
  const std::optional<KernelTime>& kernel_time = kernel.time;
  const std::optional<SiteTime>& time = site.time;
  row.add(kernel_time ? std::optional(kernel_time->microseconds) : std::nullopt)
      .add(kernel_time ? name_of_bound(kernel_time->bound) : "")
      .add(time ? std::optional(time->share) : std::nullopt)
      .add(time ? std::optional(time->waited) : std::nullopt);
  for (std::size_t index = 0; index < resource_count; ++index)
    row.add(time ? std::optional(time->occupied[index]) : std::nullopt);
  const std::optional<Accuracy>& accuracy = kernel.accuracy;
  row.add(accuracy ? accuracy->gpu : "")
      .add(accuracy && accuracy->time ? std::optional(accuracy->time->mean) : std::nullopt);
}

std::string heading() {
  Row row;
  for (const char* name : {"kernel",
                           "gpu",
                           "id",
                           "file",
                           "line",
                           "column",
                           "expression",
                           "kind",
                           "space",
                           "cache_operator",
                           "element_bytes",
                           "object",
                           "executions",
                           "active_lanes",
                           "sectors_per_request",
                           "bytes_used",
                           "bytes_moved",
                           "bank_conflicts",
                           "l1_hit_rate",
                           "l1_hit_rate_std",
                           "l2_hit_rate",
                           "l2_hit_rate_std",
                           "latency_ns",
                           "latency_ns_std",
                           "latency_share",
                           "constant_hit_rate",
                           "constant_hit_rate_std",
                           "constant_addresses"})
    row.add(name);
  for (const std::string& name : time_headings())
    row.add(name);
  return row.end();
}

std::string row_of(const KernelResult& kernel, const SiteResult& result) {
  const Site& site = result.site;
  Row row;
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
      .add(site.object)
      .add(result.executions)
      .add(std::optional(result.active_lanes))
      .add(result.sectors_per_request)
      .add(result.bytes_used)
      .add(result.bytes_moved)
      .add(result.bank_conflicts)
      .add(result.l1_hit_rate)
      .add(result.l2_hit_rate)
      .add(result.latency_ns)
      .add(result.latency_share)
      .add(result.constant_hit_rate)
      .add(result.constant_addresses);
  add_time(row, kernel, result);
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
