#include "judge/gate.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warplens::judge {
namespace {

/// Returns a kernel of results that has the recorded times.
KernelResult with_times(const RecordedKernel& recorded) {
  KernelResult kernel;
  kernel.name = recorded.kernel;
  kernel.gpu = recorded.gpu;
  if (recorded.time_us.size() != 3)
    return kernel;
  Statistic& time = kernel.time.emplace().microseconds;
  time.mean = recorded.time_us[0];
  time.ci95[0] = recorded.time_us[1];
  time.ci95[1] = recorded.time_us[2];
  for (const double trial : recorded.trials_us)
    kernel.trial_values.microseconds.emplace_back(trial);
  return kernel;
}

/// Returns half of the interval of a recorded time, as a share of it.
double relative_half_width(const RecordedKernel& recorded) {
  const std::vector<double>& time = recorded.time_us;
  return time.size() == 3 && time[0] > 0 ? (time[2] - time[1]) / 2 / time[0] : 0;
}

/// Compares the times. Paired trials tell the change far better than each time is known, and the interval of
/// that difference decides: no threshold is chosen but the user's.
void compare_times(GateEntry& entry, double tolerance) {
  Speed& speed = entry.speed.emplace(compare_launches(with_times(*entry.before), with_times(*entry.after),
                                                      entry.before->seed == entry.after->seed, tolerance));
  entry.verdict = GateVerdict::cannot_say;
  if (!speed.change)
    return;
  const double known_within = std::max(tolerance, relative_half_width(*entry.before));
  const double widest = std::max(std::abs(speed.change->low), std::abs(speed.change->high));
  if (speed.change->low > tolerance)
    entry.verdict = GateVerdict::worse;
  else if (speed.change->high < -tolerance)
    entry.verdict = GateVerdict::better;
  else if (widest <= known_within)
    entry.verdict = GateVerdict::same;
  else
    speed.reason =
        fmt::format("±{:.2g} % on this kernel for a change of {:.2g} %",
                    50 * (speed.change->high - speed.change->low), 100 * std::abs(speed.change->share));
}

void compare_exact(GateEntry& entry, const std::set<std::string>& ratchets) {
  for (const ExactFigure& figure : exact_figures()) {
    const auto before = entry.before->exact.find(figure.name), after = entry.after->exact.find(figure.name);
    if (before == entry.before->exact.end() || after == entry.after->exact.end() ||
        before->second == after->second)
      continue;
    const bool is_worse = (after->second > before->second) == figure.more_is_worse;
    const bool fails = is_worse && ratchets.contains(figure.name);
    entry.exact.push_back({figure.name, before->second, after->second, is_worse, fails});
    if (fails)
      entry.verdict = GateVerdict::worse;
  }
}

/// Returns the findings of one list that the other lacks.
std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& known) {
  std::vector<std::string> rest;
  for (const std::string& one : all)
    if (std::ranges::find(known, one) == known.end())
      rest.push_back(one);
  return rest;
}

/// Adds "new finding: strided" and "no more: few-warps" to the clauses.
void add_findings(std::vector<std::string>& clauses, const std::vector<std::string>& before,
                  const std::vector<std::string>& after) {
  if (const auto added = without(after, before); !added.empty())
    clauses.push_back(fmt::format("new: {}", fmt::join(added, ", ")));
  if (const auto removed = without(before, after); !removed.empty())
    clauses.push_back(fmt::format("no more: {}", fmt::join(removed, ", ")));
}

/// Finds the access in the other list by its text; null: it is not there.
const RecordedAccess* counterpart(const RecordedAccess& access, const std::vector<RecordedAccess>& others) {
  const auto found = std::ranges::find_if(others, [&](const RecordedAccess& other) {
    return other.file == access.file && other.expression == access.expression;
  });
  return found == others.end() ? nullptr : &*found;
}

std::string clause_of(const RecordedAccess& access, std::vector<std::string> parts) {
  return fmt::format("{} {}: {}", access.file, access.expression, fmt::join(parts, ", "));
}

void find_causes(GateEntry& entry) {
  add_findings(entry.causes, entry.before->findings, entry.after->findings);
  if (entry.before->bound != entry.after->bound && !entry.before->bound.empty() &&
      !entry.after->bound.empty())
    entry.causes.push_back(
        fmt::format("bound by {} before, by {} now", entry.before->bound, entry.after->bound));
  for (const RecordedAccess& access : entry.after->accesses) {
    const RecordedAccess* const old = counterpart(access, entry.before->accesses);
    std::vector<std::string> parts;
    if (old == nullptr) {
      parts.push_back(fmt::format("new, {:.0f} % of the time", 100 * access.share));
      if (access.sectors_per_request > 0)
        parts.push_back(fmt::format("{:.3g} sectors per request", access.sectors_per_request));
    } else {
      if (old->sectors_per_request != access.sectors_per_request)
        parts.push_back(fmt::format("{:.3g} → {:.3g} sectors per request", old->sectors_per_request,
                                    access.sectors_per_request));
      if (old->bank_conflicts != access.bank_conflicts)
        parts.push_back(fmt::format("{:.3g} → {:.3g} bank conflicts per request", old->bank_conflicts,
                                    access.bank_conflicts));
    }
    add_findings(parts, old != nullptr ? old->findings : std::vector<std::string>(), access.findings);
    constexpr double notable_share = 0.05;
    if (old != nullptr && (!parts.empty() || std::abs(access.share - old->share) >= notable_share))
      parts.push_back(fmt::format("{:.0f} → {:.0f} % of the time", 100 * old->share, 100 * access.share));
    if (!parts.empty())
      entry.causes.push_back(clause_of(access, std::move(parts)));
  }
  for (const RecordedAccess& access : entry.before->accesses)
    if (counterpart(access, entry.after->accesses) == nullptr)
      entry.causes.push_back(clause_of(
          access,
          {fmt::format("no longer among the costliest, {:.0f} % of the time before", 100 * access.share)}));
}

std::string note_on(const RecordedKernel& before, const RecordedKernel& after) {
  if (before.version != after.version)
    return fmt::format("recorded by Warplens {}, and this is {}: record it again to compare models alone",
                       before.version, after.version);
  if (before.identity.model != after.identity.model)
    return "the GPU's file or the options of modelling are not those recorded";
  if (before.identity.code == after.identity.code && !after.identity.code.empty())
    return "the machine code is as recorded; its launch or its inputs are not";
  return "";
}

GateEntry compare(const RecordedKernel& before, const RecordedKernel& after, const GateOptions& options) {
  GateEntry entry;
  entry.before = &before;
  entry.after = &after;
  if (before.identity == after.identity)
    return entry;
  compare_times(entry, options.tolerance);
  compare_exact(entry, options.ratchets);
  find_causes(entry);
  entry.note = note_on(before, after);
  return entry;
}

GateOutcome outcome_of(const Gate& gate) {
  const auto fails = [&](auto... verdicts) {
    return std::ranges::any_of(gate.entries, [&](const GateEntry& entry) {
      return entry.waiver == nullptr && ((entry.verdict == verdicts) || ...);
    });
  };
  using enum GateVerdict;
  if (!gate.expired.empty() || fails(worse))
    return GateOutcome::worse;
  if (fails(better, is_new, removed))
    return GateOutcome::outdated;
  return fails(cannot_say) ? GateOutcome::cannot_say : GateOutcome::holds;
}

} // namespace

std::string_view text_of(GateVerdict verdict) {
  switch (verdict) {
  case GateVerdict::worse: return "worse";
  case GateVerdict::cannot_say: return "cannot say";
  case GateVerdict::better: return "better";
  case GateVerdict::is_new: return "new";
  case GateVerdict::removed: return "removed";
  case GateVerdict::same: return "same";
  case GateVerdict::equal: return "equal";
  }
  return "";
}

std::size_t Gate::count(GateVerdict verdict) const {
  return std::size_t(std::ranges::count(entries, verdict, &GateEntry::verdict));
}

Gate hold_against(const Baseline& baseline, const std::vector<RecordedKernel>& now,
                  const GateOptions& options) {
  Gate gate;
  std::set<std::string> programs, gpus;
  for (const RecordedKernel& after : now) {
    programs.insert(after.program);
    gpus.insert(after.gpu);
    const auto before = std::ranges::find_if(
        baseline.kernels, [&](const RecordedKernel& other) { return other.key() == after.key(); });
    if (before != baseline.kernels.end())
      gate.entries.push_back(compare(*before, after, options));
    else
      gate.entries.push_back({.verdict = GateVerdict::is_new, .after = &after});
  }
  for (const RecordedKernel& before : baseline.kernels)
    if (programs.contains(before.program) && gpus.contains(before.gpu) &&
        (!options.was_asked_for || options.was_asked_for(before)) &&
        std::ranges::none_of(now, [&](const RecordedKernel& after) { return after.key() == before.key(); }))
      gate.entries.push_back({.verdict = GateVerdict::removed, .before = &before});
  for (const Waiver& waiver : baseline.waivers) {
    if (waiver.until < options.today) { // dates sort as text
      gate.expired.push_back(&waiver);
      continue;
    }
    bool is_used = false;
    for (GateEntry& entry : gate.entries)
      if (waiver.covers(entry.kernel()) &&
          (entry.verdict == GateVerdict::worse || entry.verdict == GateVerdict::cannot_say)) {
        entry.waiver = &waiver;
        is_used = true;
      }
    if (!is_used)
      gate.idle.push_back(&waiver);
  }
  std::ranges::stable_sort(gate.entries, {}, &GateEntry::verdict);
  gate.outcome = outcome_of(gate);
  return gate;
}

Baseline recorded(Baseline baseline, const std::vector<RecordedKernel>& now,
                  const std::function<bool(const RecordedKernel&)>& was_asked_for) {
  std::erase_if(baseline.kernels, [&](const RecordedKernel& old) {
    return was_asked_for(old) && std::ranges::any_of(now, [&](const RecordedKernel& kernel) {
             return kernel.program == old.program && kernel.gpu == old.gpu;
           });
  });
  for (const RecordedKernel& kernel : now) {
    std::erase_if(baseline.kernels, [&](const RecordedKernel& old) { return old.key() == kernel.key(); });
    baseline.kernels.push_back(kernel);
  }
  return baseline;
}

} // namespace warplens::judge
