#include "report/columns.h"

#include "report/figures.h"

#include <algorithm>

namespace warplens::report {
namespace {

std::optional<double> used_share(const SiteResult& site) {
  if (!site.bytes_used || !site.bytes_moved || *site.bytes_moved == 0)
    return std::nullopt;
  return static_cast<double>(*site.bytes_used) / static_cast<double>(*site.bytes_moved);
}

/// Returns the miss rate as the sort value: low hit rates deserve a look.
std::optional<double> missed(const std::optional<Statistic>& rate) {
  return rate ? std::optional(1 - rate->mean) : std::nullopt;
}

std::optional<double> as_number(const std::optional<std::uint64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

std::string count(const std::optional<double>& value) {
  return value ? short_count(*value) : "-";
}

std::optional<double> time_share(const SiteResult& site) {
  return site.time ? std::optional(site.time->share.mean) : std::nullopt;
}

std::optional<Statistic> waited(const SiteResult& site) {
  return site.time ? std::optional(site.time->waited) : std::nullopt;
}

using Site = const SiteResult&;

} // namespace

const std::vector<Column>& all_columns() {
  static const std::vector<Column> columns = {
      {"time", "time", "%", 4, "{} % of the time", "share of the kernel's time",
       [](Site site) { return share(time_share(site)); }, time_share, true},
      {"waited", "waited", "cycles", 8, "{} cycles waited",
       "warp-cycles per execution in which warps wait for its result, or at the barrier",
       [](Site site) { return cycles(waited(site)); },
       [](Site site) { return site.time ? std::optional(site.time->waited.mean) : std::nullopt; }},
      {"share", "lat", "%", 3, "{} % of the latency", "share of the kernel's latency",
       [](Site site) { return share(site.latency_share); }, [](Site site) { return site.latency_share; },
       true},
      {"latency", "latency", "ns", 8, "{} ns", "expected latency of a request",
       [](Site site) { return nanoseconds(site.latency_ns); },
       [](Site site) { return site.latency_ns ? std::optional(site.latency_ns->mean) : std::nullopt; }},
      {"l1", "L1 hit", "%", 8, "L1 {} %", "L1 hit rate; sorts by misses",
       [](Site site) { return rate(site.l1_hit_rate); }, [](Site site) { return missed(site.l1_hit_rate); }},
      {"l2", "L2 hit", "%", 8, "L2 {} %", "L2 hit rate; sorts by misses",
       [](Site site) { return rate(site.l2_hit_rate); }, [](Site site) { return missed(site.l2_hit_rate); }},
      {"sectors", "sect/", "req", 5, "{} sectors/request", "32-byte sectors per request",
       [](Site site) { return ratio(site.sectors_per_request); },
       [](Site site) { return site.sectors_per_request; }},
      {"executions", "warp", "execs", 5, "{} executions", "warp-level executions in the snapshot",
       [](Site site) { return short_count(static_cast<double>(site.executions)); },
       [](Site site) { return std::optional(static_cast<double>(site.executions)); }},
      {"lanes", "active", "lanes", 6, "{} lanes active", "active lanes of 32, mean; sorts by idle ones",
       [](Site site) { return site.executions ? ratio(site.active_lanes) : "-"; },
       [](Site site) { return site.executions ? std::optional(32 - site.active_lanes) : std::nullopt; }},
      {"used", "bytes", "used%", 5, "{} % of the bytes used",
       "bytes that lanes requested over bytes moved; sorts by unused ones",
       [](Site site) {
         const auto used = used_share(site);
         return used ? percent(*used) : "-";
       },
       [](Site site) {
         const auto used = used_share(site);
         return used ? std::optional(1 - *used) : std::nullopt;
       }},
      {"moved", "bytes", "moved", 5, "{} bytes moved", "bytes of all sectors touched",
       [](Site site) { return count(as_number(site.bytes_moved)); },
       [](Site site) { return as_number(site.bytes_moved); }},
      {"conflicts", "extra", "pass", 5, "{} extra passes", "shared memory: extra passes per request",
       [](Site site) { return ratio(site.bank_conflicts); }, [](Site site) { return site.bank_conflicts; }},
      {"constant", "const", "hit %", 8, "constant cache {} %", "constant cache's hit rate; sorts by misses",
       [](Site site) { return rate(site.constant_hit_rate); },
       [](Site site) { return missed(site.constant_hit_rate); }},
  };
  return columns;
}

const Column& cost_column(const KernelResult& kernel) {
  return **column_named(kernel.time ? "time" : "share");
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
