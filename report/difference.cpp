#include "report/difference.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

namespace warplens::report {
namespace {

struct Value {
  double mean, half_width;
};

template <class Owner> struct Figure {
  std::string_view name;
  std::optional<Value> (*value)(const Owner&);
};

std::optional<Value> of(const std::optional<Statistic>& statistic) {
  if (!statistic || !std::isfinite(statistic->mean))
    return std::nullopt;
  return Value{statistic->mean, std::max(0.0, (statistic->ci95[1] - statistic->ci95[0]) / 2)};
}

template <class Number> std::optional<Value> of(const std::optional<Number>& number) {
  return number ? std::optional(Value{static_cast<double>(*number), 0}) : std::nullopt;
}

constexpr Figure<Totals> of_totals[] = {
    {"l1_read_hit_rate", [](const Totals& totals) { return of(totals.l1_read_hit_rate); }},
    {"l2_read_hit_rate", [](const Totals& totals) { return of(totals.l2_read_hit_rate); }},
    {"l2_write_hit_rate", [](const Totals& totals) { return of(totals.l2_write_hit_rate); }},
    {"constant_hit_rate", [](const Totals& totals) { return of(totals.constant_hit_rate); }},
    {"constant_group_hit_rate", [](const Totals& totals) { return of(totals.constant_group_hit_rate); }},
    {"dram_latency_ns", [](const Totals& totals) { return of(totals.dram_latency_ns); }},
    {"dram_read_bytes", [](const Totals& totals) { return of(totals.dram_read_bytes); }},
    {"dram_write_bytes", [](const Totals& totals) { return of(totals.dram_write_bytes); }},
    {"cold_miss_share", [](const Totals& totals) { return of(totals.cold_miss_share); }},
};

constexpr Figure<SiteResult> of_sites[] = {
    {"latency_ns", [](const SiteResult& site) { return of(site.latency_ns); }},
    {"latency_share", [](const SiteResult& site) { return of(site.latency_share); }},
    {"l1_hit_rate", [](const SiteResult& site) { return of(site.l1_hit_rate); }},
    {"l2_hit_rate", [](const SiteResult& site) { return of(site.l2_hit_rate); }},
    {"constant_hit_rate", [](const SiteResult& site) { return of(site.constant_hit_rate); }},
    {"sectors_per_request", [](const SiteResult& site) { return of(site.sectors_per_request); }},
    {"bank_conflicts", [](const SiteResult& site) { return of(site.bank_conflicts); }},
    {"active_lanes", [](const SiteResult& site) { return of(std::optional(site.active_lanes)); }},
    {"executions", [](const SiteResult& site) { return of(std::optional(site.executions)); }},
    {"bytes_used", [](const SiteResult& site) { return of(site.bytes_used); }},
    {"bytes_moved", [](const SiteResult& site) { return of(site.bytes_moved); }},
};

template <class Owner, std::size_t N>
std::vector<std::string_view> names_of(const Figure<Owner> (&figures)[N]) {
  std::vector<std::string_view> names;
  for (const Figure<Owner>& figure : figures)
    names.push_back(figure.name);
  return names;
}

template <class Owner, std::size_t N>
std::vector<FigureChange> changes(const Owner& before, const Owner& after,
                                  const Figure<Owner> (&figures)[N]) {
  std::vector<FigureChange> result;
  for (const Figure<Owner>& figure : figures) {
    const auto old = figure.value(before), now = figure.value(after);
    if (old && now)
      result.push_back({figure.name, old->mean, now->mean, std::hypot(old->half_width, now->half_width)});
  }
  return result;
}

/// What a file is called whatever tree it lies in: its last name, if no other file of the kernel has the
/// same.
class FileKeys {
public:
  explicit FileKeys(const KernelResult& kernel) {
    for (const SiteResult& site : kernel.sites) {
      std::string& file = only_.try_emplace(last_name(site.site.file), site.site.file).first->second;
      if (file != site.site.file)
        file.clear(); // two of that name
    }
  }

  std::string of(const std::string& file) const {
    const std::string name = last_name(file);
    return only_.at(name).empty() ? file : name;
  }

private:
  static std::string last_name(const std::string& file) {
    return std::filesystem::path(file).filename().string();
  }

  std::map<std::string, std::string> only_;
};

using Key = std::tuple<std::string, std::string, trace::AccessKind>; // file, expression, kind
using Sites = std::vector<const SiteResult*>;

std::map<Key, Sites> by_key(const KernelResult& kernel) {
  const FileKeys files(kernel);
  std::map<Key, Sites> groups;
  for (const SiteResult& site : kernel.sites) // in the order of the source
    groups[{files.of(site.site.file), site.site.expression, site.site.kind}].push_back(&site);
  return groups;
}

/// Which site of `before` each of `after` corresponds to.
class SiteMatch {
public:
  SiteMatch(const KernelResult& before, const KernelResult& after) {
    std::map<Key, Sites> old = by_key(before);
    Sites left_old, left_new;
    for (auto& [key, sites] : by_key(after)) {
      Sites& others = old[key];
      if (sites.size() != others.size())
        pair_by_id(others, sites);
      const std::size_t common = std::min(others.size(), sites.size());
      for (std::size_t index = 0; index < common; ++index)
        counterpart_[sites[index]] = others[index];
      others.erase(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(common));
      left_new.insert(left_new.end(), sites.begin() + static_cast<std::ptrdiff_t>(common), sites.end());
    }
    for (const auto& [key, sites] : old)
      left_old.insert(left_old.end(), sites.begin(), sites.end());
    pair_by_id(left_old, left_new);
    gone = left_old;
    come = left_new;
  }

  const SiteResult* counterpart(const SiteResult& site) const {
    const auto found = counterpart_.find(&site);
    return found == counterpart_.end() ? nullptr : found->second;
  }

  Sites gone, come;

private:
  /// Pairs those whose ids agree and takes them out of both.
  void pair_by_id(Sites& old, Sites& now) {
    std::map<std::uint64_t, const SiteResult*> by_id;
    for (const SiteResult* site : old)
      by_id.emplace(site->site.id, site);
    std::erase_if(now, [&](const SiteResult* site) {
      const auto found = by_id.find(site->site.id);
      if (found == by_id.end())
        return false;
      counterpart_[site] = found->second;
      std::erase(old, found->second);
      by_id.erase(found);
      return true;
    });
  }

  std::map<const SiteResult*, const SiteResult*> counterpart_;
};

KernelChange compare(const KernelResult& before, const KernelResult& after, double least_share) {
  KernelChange change = {&before, &after, changes(before.totals, after.totals, of_totals), {}, {}, {}};
  SiteMatch match(before, after);
  const auto counts = [&](const SiteResult& site) { return site.latency_share.value_or(1) >= least_share; };
  for (const SiteResult& site : after.sites)
    if (const SiteResult* old = match.counterpart(site); old && (counts(site) || counts(*old)))
      change.sites.push_back({old, &site, changes(*old, site, of_sites)});
  change.gone = std::move(match.gone);
  change.come = std::move(match.come);
  return change;
}

} // namespace

bool FigureChange::is_beyond_interval() const {
  constexpr double rounding = 1e-12; // of figures that were read from text
  return std::abs(difference()) > interval + rounding * std::max(std::abs(before), std::abs(after));
}

const std::vector<std::string_view>& total_figures() {
  static const std::vector<std::string_view> names = names_of(of_totals);
  return names;
}

const std::vector<std::string_view>& site_figures() {
  static const std::vector<std::string_view> names = names_of(of_sites);
  return names;
}

Difference compare(const Result& before, const Result& after, const DifferenceOptions& options) {
  const auto wanted = [&](const KernelResult& kernel) {
    return !options.wants_kernel || options.wants_kernel(kernel.name);
  };
  Difference difference;
  for (const KernelResult& kernel : before.kernels)
    if (wanted(kernel))
      difference.gone.push_back(&kernel);
  for (const KernelResult& kernel : after.kernels) {
    if (!wanted(kernel))
      continue;
    const auto old = std::ranges::find_if(difference.gone, [&](const KernelResult* other) {
      return other->name == kernel.name && other->gpu == kernel.gpu;
    });
    if (old == difference.gone.end()) {
      difference.come.push_back(&kernel);
      continue;
    }
    difference.kernels.push_back(compare(**old, kernel, options.least_share));
    difference.gone.erase(old);
  }
  return difference;
}

} // namespace warplens::report
