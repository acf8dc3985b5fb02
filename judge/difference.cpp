#include "judge/difference.h"

#include "judge/costly_lines.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace warplens::judge {
namespace {

constexpr double rounding = 1e-12; // for figures that were read from text, or scaled

/// The factors that turn counts in the two snapshots into those of their launches.
struct LaunchScale {
  double before, after;
};

/// Adds a figure that both results have.
template <class Owner>
void add_change(std::vector<FigureChange>& changes, const Metric<Owner>& figure,
                const std::optional<MeasuredValue>& old, const std::optional<MeasuredValue>& now,
                const LaunchScale& scale) {
  if (!old || !now)
    return;
  const bool per_launch = figure.extent == Extent::whole_snapshot;
  const double old_scale = per_launch ? scale.before : 1, new_scale = per_launch ? scale.after : 1;
  changes.push_back({figure.name, old->mean * old_scale, now->mean * new_scale,
                     std::hypot(old->half_width * old_scale, now->half_width * new_scale), per_launch,
                     figure.worse, figure.unit});
}

std::vector<FigureChange> changes(const KernelResult& before, const KernelResult& after,
                                  const LaunchScale& scale) {
  std::vector<FigureChange> result;
  for (const KernelMetric& metric : kernel_metrics())
    add_change(result, metric, measured(metric.value(before)), measured(metric.value(after)), scale);
  return result;
}

using Sites = std::vector<const SiteResult*>;

std::vector<FigureChange> changes(const Sites& before, const Sites& after, const LaunchScale& scale) {
  std::vector<FigureChange> result;
  for (const SiteMetric& metric : site_metrics())
    add_change(result, metric, together(metric, before), together(metric, after), scale);
  return result;
}

/// Names a file independently of its tree: by its last name, if no other file of the kernel has the same.
class FileKeys {
public:
  explicit FileKeys(const KernelResult& kernel) {
    for (const SiteResult& site : kernel.sites) {
      std::string& file = only_.try_emplace(last_name(site.site.file), site.site.file).first->second;
      if (file != site.site.file)
        file.clear(); // two files have that name
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

using Key = std::tuple<std::string, std::string, AccessKind>; // file, expression, kind

bool is_in_one_file(const KernelResult& kernel) {
  return std::ranges::all_of(
      kernel.sites, [&](const SiteResult& site) { return site.site.file == kernel.sites.front().site.file; });
}

std::map<Key, Sites> by_key(const KernelResult& kernel, bool with_files) {
  const FileKeys files(kernel);
  std::map<Key, Sites> groups;
  for (const SiteResult& site : kernel.sites) // in the order of the source
    groups[{with_files ? files.of(site.site.file) : "", site.site.expression, site.site.kind}].push_back(
        &site);
  return groups;
}

/// Finds the site of `before` that each site of `after` corresponds to.
class SiteMatch {
public:
  SiteMatch(const KernelResult& before, const KernelResult& after) {
    // Two versions of a program may be two files beside each other.
    const bool with_files = !is_in_one_file(before) || !is_in_one_file(after);
    std::map<Key, Sites> old = by_key(before, with_files);
    Sites left_old, left_new;
    for (auto& [key, sites] : by_key(after, with_files)) {
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
    pair_by_array(left_old, left_new);
    removed = left_old;
    added = left_new;
  }

  const SiteResult* counterpart(const SiteResult& site) const {
    const auto found = counterpart_.find(&site);
    return found == counterpart_.end() ? nullptr : found->second;
  }

  Sites removed, added;

private:
  /// Pairs sites whose ids agree and takes them out of both lists.
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

  /// Pairs accesses to the same array by the same kind, where each side has one left: their index has
  /// changed.
  void pair_by_array(Sites& old, Sites& now) {
    const auto same = [](const SiteResult& one) {
      return [&](const SiteResult* other) {
        return !one.site.object.empty() && one.site.object == other->site.object &&
               one.site.kind == other->site.kind;
      };
    };
    const Sites all = now;
    std::erase_if(now, [&](const SiteResult* site) {
      if (std::ranges::count_if(all, same(*site)) != 1 || std::ranges::count_if(old, same(*site)) != 1)
        return false;
      const auto found = std::ranges::find_if(old, same(*site));
      counterpart_[site] = *found;
      old.erase(found);
      return true;
    });
  }

  std::map<const SiteResult*, const SiteResult*> counterpart_;
};

std::vector<LineChange> line_changes(const KernelResult& after, const SiteMatch& match,
                                     const LaunchScale& scale) {
  std::vector<LineChange> result;
  for (const CostlyLine& line : lines_of(after)) {
    Sites before;
    for (const SiteResult* site : line.sites)
      if (const SiteResult* old = match.counterpart(*site))
        before.push_back(old);
    if (line.sites.size() > 1 && !before.empty())
      result.push_back({line.file, line.line, changes(before, line.sites, scale)});
  }
  return result;
}

/// Marks the figures that depend on what the L2 held at first as not comparable: all but those of the
/// requests themselves.
void set_apart_what_depends_on_l2(KernelChange& change) {
  const auto set_apart = [](std::vector<FigureChange>& figures) {
    constexpr std::string_view request_figures[] = {
        "sectors_per_request", "bank_conflicts", "constant_addresses", "active_lanes",
        "executions",          "bytes_used",     "bytes_moved"};
    for (FigureChange& figure : figures)
      figure.comparable = std::ranges::find(request_figures, figure.figure) != std::end(request_figures);
  };
  set_apart(change.totals);
  for (SiteChange& site : change.sites)
    set_apart(site.figures);
  for (LineChange& line : change.lines)
    set_apart(line.figures);
}

KernelChange compare(const KernelResult& before, const KernelResult& after, double min_share) {
  const LaunchScale scale = {blocks_per_snapshot_block(before), blocks_per_snapshot_block(after)};
  SiteMatch match(before, after);
  KernelChange change;
  change.before = &before;
  change.after = &after;
  change.totals = changes(before, after, scale);
  const auto counts = [&](const KernelResult& kernel, const SiteResult& site) {
    const auto cost = cost_metric(kernel).value(site);
    return !cost || cost->mean >= min_share;
  };
  for (const SiteResult& site : after.sites)
    if (const SiteResult* old = match.counterpart(site); old && (counts(after, site) || counts(before, *old)))
      change.sites.push_back({old, &site, changes(Sites{old}, Sites{&site}, scale)});
  change.lines = line_changes(after, match, scale);
  if (change.l2_starts_differ())
    set_apart_what_depends_on_l2(change);
  change.removed = std::move(match.removed);
  change.added = std::move(match.added);
  return change;
}

template <class Owner> std::vector<std::string_view> names_of(std::span<const Metric<Owner>> metrics) {
  std::vector<std::string_view> names;
  for (const Metric<Owner>& metric : metrics)
    names.push_back(metric.name);
  return names;
}

/// Finds the kernel's counterpart among the unpaired kernels of `before`.
auto find_counterpart(std::vector<const KernelResult*>& before, const KernelResult& kernel,
                      bool may_be_renamed) {
  const auto named = std::ranges::find_if(before, [&](const KernelResult* other) {
    return other->name == kernel.name && other->gpu == kernel.gpu;
  });
  return named != before.end() || !may_be_renamed ? named
                                                  : std::ranges::find(before, kernel.gpu, &KernelResult::gpu);
}

std::string snapshot_of(const KernelResult& kernel) {
  return fmt::format("{} of {:.0f} blocks", kernel.snapshot.blocks, launch_blocks(kernel));
}

} // namespace

bool FigureChange::differs() const {
  return std::abs(difference()) > rounding * std::max(std::abs(before), std::abs(after));
}

bool FigureChange::is_beyond_interval() const {
  return std::abs(difference()) > interval + rounding * std::max(std::abs(before), std::abs(after));
}

bool FigureChange::is_significant() const {
  constexpr double min_share = 0.005;
  return comparable && is_beyond_interval() &&
         std::abs(difference()) > min_share * std::max(std::abs(before), std::abs(after));
}

bool FigureChange::is_worse() const {
  return comparable && is_beyond_interval() && worse != Worse::neither &&
         (difference() > 0) == (worse == Worse::high);
}

bool FigureChange::is_better() const {
  return comparable && is_beyond_interval() && worse != Worse::neither &&
         (difference() > 0) == (worse == Worse::low);
}

bool KernelChange::is_equal() const {
  return before->name == after->name && before->identity && before->identity == after->identity;
}

std::string equality_of(const Difference& difference) {
  if (std::ranges::any_of(difference.kernels, [](const KernelChange& kernel) {
        return !kernel.before->identity || !kernel.after->identity;
      }))
    return "";
  const auto equal = std::size_t(std::ranges::count_if(difference.kernels, &KernelChange::is_equal));
  std::string text = fmt::format("{} kernel{} equal, {} changed", equal, equal == 1 ? "" : "s",
                                 difference.kernels.size() - equal);
  if (!difference.added.empty())
    text += fmt::format(", {} new", difference.added.size());
  if (!difference.removed.empty())
    text += fmt::format(", {} removed", difference.removed.size());
  return text;
}

bool KernelChange::snapshots_differ() const {
  return before->snapshot.blocks != after->snapshot.blocks ||
         blocks_per_snapshot_block(*before) != blocks_per_snapshot_block(*after);
}

bool KernelChange::l2_starts_differ() const {
  return before->l2_start && after->l2_start && before->l2_start->warm != after->l2_start->warm;
}

bool KernelChange::only_one_has_time() const {
  return before->time.has_value() != after->time.has_value();
}

double launch_blocks(const KernelResult& kernel) {
  return static_cast<double>(kernel.grid.x) * kernel.grid.y * kernel.grid.z;
}

std::string snapshots_of(const KernelChange& kernel) {
  return fmt::format("snapshots differ: {} before, {} of {:.0f} after", snapshot_of(*kernel.before),
                     kernel.after->snapshot.blocks, launch_blocks(*kernel.after));
}

std::string l2_starts_of(const KernelChange& kernel) {
  const auto start = [](const KernelResult& of) { return of.l2_start->warm ? "warm" : "cold"; };
  return fmt::format("the L2 begins {} before and {} after: times and hit rates do not compare, and get no *",
                     start(*kernel.before), start(*kernel.after));
}

std::string missing_times_of(const KernelChange& kernel) {
  const KernelResult& other = kernel.before->time ? *kernel.after : *kernel.before;
  return fmt::format("only the result {} has times, for {}", kernel.before->time ? "before" : "after",
                     other.time_unknown.empty() ? "the trials of the other one have no clock"
                                                : other.time_unknown);
}

const std::vector<std::string_view>& total_figures() {
  static const std::vector<std::string_view> names = names_of(kernel_metrics());
  return names;
}

const std::vector<std::string_view>& site_figures() {
  static const std::vector<std::string_view> names = names_of(site_metrics());
  return names;
}

Difference compare(const Result& before, const Result& after, const DifferenceOptions& options) {
  const auto wanted = [&](const KernelResult& kernel) {
    return !options.wants_kernel || options.wants_kernel(kernel.name);
  };
  Difference difference;
  for (const KernelResult& kernel : before.kernels)
    if (wanted(kernel))
      difference.removed.push_back(&kernel);
  const auto alone = [&](const Result& result, const std::string& gpu) {
    return 1 == std::ranges::count_if(result.kernels, [&](const KernelResult& kernel) {
             return wanted(kernel) && kernel.gpu == gpu;
           });
  };
  for (const KernelResult& kernel : after.kernels) {
    if (!wanted(kernel))
      continue;
    const auto old =
        find_counterpart(difference.removed, kernel, alone(before, kernel.gpu) && alone(after, kernel.gpu));
    if (old == difference.removed.end()) {
      difference.added.push_back(&kernel);
      continue;
    }
    difference.kernels.push_back(compare(**old, kernel, options.min_share));
    difference.removed.erase(old);
  }
  return difference;
}

} // namespace warplens::judge
