#include "placement/compared_programs.h"

#include "result/figure_text.h"
#include "result/no_time.h"
#include "result/resources.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace warplens::placement {
namespace {

constexpr std::size_t max_lines = 6;      ///< of a kernel
constexpr double min_line_change = 0.005; ///< of the kernel's time

/// The launches of one kernel on one GPU that were traced.
struct Launches {
  std::vector<const KernelResult*> results;

  double microseconds() const {
    double sum = 0;
    for (const KernelResult* one : results)
      sum += one->time->microseconds.mean / double(results.size());
    return sum;
  }
  std::uint64_t count() const { return std::max<std::uint64_t>(results.front()->launches, results.size()); }
  /// Returns the time of a launch in each trial.
  TrialValues::Values values() const {
    TrialValues::Values sums = results.front()->trial_values.microseconds;
    for (std::size_t i = 1; i < results.size(); ++i) {
      const TrialValues::Values& further = results[i]->trial_values.microseconds;
      sums.resize(std::min(sums.size(), further.size()));
      for (std::size_t trial = 0; trial < sums.size(); ++trial)
        sums[trial] =
            sums[trial] && further[trial] ? std::optional(*sums[trial] + *further[trial]) : std::nullopt;
    }
    for (std::optional<double>& sum : sums)
      if (sum)
        *sum /= double(results.size());
    return sums;
  }
};

using Kernels = std::vector<std::pair<std::string, Launches>>; // in the order of their first launches

Kernels kernels_on(const Result& result, const std::string& gpu) {
  Kernels kernels;
  for (const KernelResult& one : result.kernels) {
    if (one.gpu != gpu)
      continue;
    auto known = std::ranges::find(kernels, one.name, &Kernels::value_type::first);
    if (known == kernels.end())
      known = kernels.insert(kernels.end(), {one.name, {}});
    known->second.results.push_back(&one);
  }
  return kernels;
}

/// Adds the time of all launches to that of each trial of the program.
void add(TrialValues::Values& program, const Launches& launches) {
  const TrialValues::Values values = launches.values();
  if (program.empty())
    program.assign(values.size(), 0.0);
  program.resize(std::min(program.size(), values.size()));
  for (std::size_t trial = 0; trial < program.size(); ++trial)
    program[trial] = program[trial] && values[trial]
                         ? std::optional(*program[trial] + double(launches.count()) * *values[trial])
                         : std::nullopt;
}

/// Returns the part of the kernel's time in which its warps wait for the site's results.
double waited_us(const SiteResult& site, const KernelResult& kernel) {
  return site.time ? site.time->waited_share * kernel.time->microseconds.mean : 0;
}

std::string place_of(const SiteResult& site) {
  return fmt::format("{}:{} {}", site.site.file, site.site.line, site.site.expression);
}

std::string number(std::string_view figure, double value) {
  const bool is_rate =
      figure.find("rate") != std::string_view::npos || figure.find("share") != std::string_view::npos;
  return is_rate ? percent(value) + " %" : fmt::format("{:.3g}", value);
}

std::vector<MovedLine> moved_lines(const judge::KernelChange& change) {
  constexpr std::array shown{std::string_view("executions"),     std::string_view("sectors_per_request"),
                             std::string_view("bank_conflicts"), std::string_view("l1_hit_rate"),
                             std::string_view("l2_hit_rate"),    std::string_view("constant_addresses")};
  std::vector<MovedLine> lines;
  const auto put = [&](MovedLine line) {
    const double most =
        std::max(change.before->time->microseconds.mean, change.after->time->microseconds.mean);
    if (std::abs(line.after_us - line.before_us) >= min_line_change * most || !line.figures.empty())
      lines.push_back(std::move(line));
  };
  for (const judge::SiteChange& site : change.sites) {
    MovedLine line{place_of(*site.after),
                   waited_us(*site.before, *change.before),
                   waited_us(*site.after, *change.after),
                   {}};
    for (const judge::FigureChange& figure : site.figures)
      if (std::ranges::count(shown, figure.figure) != 0 && figure.is_beyond_interval() &&
          std::abs(figure.difference()) > 0.01 * std::max(std::abs(figure.before), std::abs(figure.after))) {
        std::string name(figure.figure);
        std::ranges::replace(name, '_', ' ');
        line.figures.push_back(fmt::format("{} {} → {}", name, number(figure.figure, figure.before),
                                           number(figure.figure, figure.after)));
      }
    put(std::move(line));
  }
  for (const SiteResult* site : change.removed)
    put({place_of(*site), waited_us(*site, *change.before), 0, {"removed"}});
  for (const SiteResult* site : change.added)
    put({place_of(*site), 0, waited_us(*site, *change.after), {"new"}});
  std::ranges::stable_sort(lines, std::ranges::greater(),
                           [](const MovedLine& line) { return std::abs(line.after_us - line.before_us); });
  if (lines.size() > max_lines)
    lines.resize(max_lines);
  return lines;
}

/// Returns the kernel before the change: that of the same name, or the only one, or the one in its place
/// where none has its name.
const Kernels::value_type* counterpart(const Kernels& before, const Kernels& after, std::size_t index) {
  const std::string& name = after[index].first;
  if (const auto found = std::ranges::find(before, name, &Kernels::value_type::first); found != before.end())
    return &*found;
  if (before.size() == after.size() &&
      std::ranges::find(after, before[index].first, &Kernels::value_type::first) == after.end())
    return &before[index];
  return nullptr;
}

ComparedKernel compared(const std::string& gpu, const Kernels::value_type* before,
                        const Kernels::value_type* after) {
  ComparedKernel kernel;
  kernel.gpu = gpu;
  if (before != nullptr) {
    kernel.name_before = before->first;
    kernel.before_us = before->second.microseconds();
    kernel.launches_before = before->second.count();
    kernel.bound_before = text_of_bound(before->second.results.front()->time->bound);
  }
  if (after != nullptr) {
    kernel.name_after = after->first;
    kernel.after_us = after->second.microseconds();
    kernel.launches_after = after->second.count();
    kernel.bound_after = text_of_bound(after->second.results.front()->time->bound);
  }
  if (before == nullptr || after == nullptr)
    return kernel;
  kernel.change = change_of(before->second.values(), after->second.values());
  Result one, other;
  one.kernels.push_back(*before->second.results.front());
  other.kernels.push_back(*after->second.results.front());
  const judge::Difference difference = judge::compare(one, other, {});
  if (!difference.kernels.empty())
    kernel.lines = moved_lines(difference.kernels.front());
  return kernel;
}

} // namespace

Verdict verdict_on(const TimeChange& change) {
  if (std::abs(change.share) < same_within || std::abs(change.share) <= change.half_width)
    return Verdict::same;
  return change.share < 0 ? Verdict::faster : Verdict::slower;
}

Expected<std::vector<ComparedProgram>> compare_programs(const Result& before, const Result& after) {
  std::vector<std::string> gpus;
  for (const KernelResult& one : after.kernels)
    if (std::ranges::count(gpus, one.gpu) == 0)
      gpus.push_back(one.gpu);
  for (const Result* result : {&before, &after})
    for (const KernelResult& one : result->kernels)
      if (!one.time)
        return fail("the time of {} is not known, because {}", one.name, why_no_time(one));
  std::vector<ComparedProgram> programs;
  for (const std::string& gpu : gpus) {
    const Kernels was = kernels_on(before, gpu), is = kernels_on(after, gpu);
    ComparedProgram program;
    program.gpu = gpu;
    TrialValues::Values before_values, after_values;
    for (const auto& [name, launches] : was)
      add(before_values, launches);
    for (const auto& [name, launches] : is)
      add(after_values, launches);
    const auto change = change_of(before_values, after_values);
    if (!change)
      return fail("the two results have no trials in common on {}", gpu);
    program.change = *change;
    std::vector<const Kernels::value_type*> paired;
    for (std::size_t i = 0; i < is.size(); ++i) {
      paired.push_back(counterpart(was, is, i));
      program.kernels.push_back(compared(gpu, paired.back(), &is[i]));
    }
    for (const Kernels::value_type& one : was)
      if (std::ranges::count(paired, &one) == 0)
        program.kernels.push_back(compared(gpu, &one, nullptr));
    for (const ComparedKernel& kernel : program.kernels) {
      program.before_us += kernel.before_us * double(kernel.launches_before);
      program.after_us += kernel.after_us * double(kernel.launches_after);
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

} // namespace warplens::placement
