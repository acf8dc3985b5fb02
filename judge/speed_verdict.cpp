#include "judge/speed_verdict.h"

#include "result/figure_text.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <set>
#include <span>

namespace warplens::judge {
namespace {

/// A kernel's part in a time: a launch, or as many as the program has; a side is null where only the other
/// result has the kernel.
struct Part {
  const KernelResult *before, *after;
  double launches_before = 1, launches_after = 1;
};

/// The mean times of a part in both results, all its launches together.
struct Means {
  double before = 0, after = 0;
};

/// Returns the number of trials that both sides have with the same random numbers; 0: the trials are not
/// pairs.
std::size_t pairs_of(const Part& part, bool same_seed) {
  if (!same_seed || part.before == nullptr || part.after == nullptr)
    return 0;
  const auto& before = part.before->trial_values.microseconds;
  const auto& after = part.after->trial_values.microseconds;
  const std::size_t count = std::min(before.size(), after.size());
  for (std::size_t trial = 0; trial < count; ++trial)
    if (!before[trial] || !after[trial])
      return 0;
  return count < 2 ? 0 : count; // a single pair has no interval
}

double mean_of(const TrialValues::Values& values, std::size_t count) {
  double sum = 0;
  for (std::size_t index = 0; index < count; ++index)
    sum += *values[index];
  return sum / double(count);
}

Means means_of(const Part& part, std::size_t pairs) {
  const auto time = [&](const KernelResult* kernel) {
    if (kernel == nullptr)
      return 0.0;
    return pairs != 0 ? mean_of(kernel->trial_values.microseconds, pairs) : kernel->time->microseconds.mean;
  };
  return {part.launches_before * time(part.before), part.launches_after * time(part.after)};
}

/// Returns half of the 95 % interval of after - ratio × before, the deviation from a common ratio: of pairs
/// by the deviations of their trials, otherwise by the two intervals as independent errors (the ratio
/// estimator's variance; Cochran, Sampling Techniques, 6.3).
double half_width_of(const Part& part, std::size_t pairs, double ratio) {
  if (pairs == 0) {
    const auto half = [](const KernelResult* kernel) {
      return kernel == nullptr
                 ? 0
                 : (kernel->time->microseconds.ci95[1] - kernel->time->microseconds.ci95[0]) / 2;
    };
    return std::hypot(part.launches_after * half(part.after),
                      ratio * part.launches_before * half(part.before));
  }
  std::vector<double> deviations;
  for (std::size_t trial = 0; trial < pairs; ++trial)
    deviations.push_back(part.launches_after * *part.after->trial_values.microseconds[trial] -
                         ratio * part.launches_before * *part.before->trial_values.microseconds[trial]);
  const double n = double(pairs);
  double mean = 0, squares = 0;
  for (const double deviation : deviations)
    mean += deviation / n;
  for (const double deviation : deviations)
    squares += (deviation - mean) * (deviation - mean);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), 0.975);
  return t * std::sqrt(squares / (n - 1) / n);
}

SpeedVerdict verdict_of(const RelativeChange& change, double tolerance) {
  if (change.high < -tolerance)
    return SpeedVerdict::faster;
  if (change.low > tolerance)
    return SpeedVerdict::slower;
  return change.low >= -tolerance && change.high <= tolerance ? SpeedVerdict::same : SpeedVerdict::cannot_say;
}

/// Compares the sums of the parts' times.
Speed speed_of(std::span<const Part> parts, bool same_seed, double tolerance) {
  Speed speed;
  Means sum;
  speed.is_paired = true;
  for (const Part& part : parts) {
    const Means shown = means_of(part, 0), means = means_of(part, pairs_of(part, same_seed));
    speed.before_us += shown.before;
    speed.after_us += shown.after;
    sum.before += means.before;
    sum.after += means.after;
    speed.is_paired = speed.is_paired && pairs_of(part, same_seed) != 0;
  }
  const double ratio = sum.after / sum.before;
  if (!std::isfinite(ratio) || sum.before <= 0) {
    speed.reason = "there is no time before to compare with";
    return speed;
  }
  double squares = 0;
  for (const Part& part : parts)
    squares += std::pow(half_width_of(part, pairs_of(part, same_seed), ratio), 2);
  const double half_width = std::sqrt(squares) / sum.before;
  speed.change = {ratio - 1, ratio - 1 - half_width, ratio - 1 + half_width};
  speed.verdict = verdict_of(*speed.change, tolerance);
  if (speed.verdict == SpeedVerdict::cannot_say)
    speed.reason = fmt::format("neither within nor beyond ±{:.3g} %", 100 * tolerance);
  return speed;
}

Speed unknown(std::string reason) {
  Speed speed;
  speed.reason = std::move(reason);
  return speed;
}

/// Takes the verdict back: the times differ for another reason than the program.
void hold_back(Speed& speed) {
  speed.verdict = SpeedVerdict::cannot_say;
  speed.reason = "the L2 begins warm in one of the results and cold in the other";
}

Speed speed_of(const KernelChange& kernel, bool same_seed, double tolerance) {
  if (kernel.only_one_has_time())
    return unknown(fmt::format("only the result {} has times", kernel.before->time ? "before" : "after"));
  if (!kernel.before->time)
    return unknown(!kernel.before->time_unknown.empty() ? kernel.before->time_unknown
                   : kernel.before->snapshot.warp_accesses == 0 && kernel.after->snapshot.warp_accesses == 0
                       ? "it accesses no memory, and nothing else is modelled"
                       : "the trials had no clock");
  const Part part = {kernel.before, kernel.after};
  Speed speed = speed_of({&part, 1}, same_seed, tolerance);
  if (kernel.l2_starts_differ())
    hold_back(speed);
  return speed;
}

/// Returns how many times its time the launches take for which the kernel's entry in the result stands. In
/// results of older versions, all that were not traced are taken to be as the traced ones in the mean.
double launches_of(const KernelResult& kernel, const Result& result) {
  if (kernel.launches_of_kernel != 0)
    return kernel.times_this_launch;
  const auto entries = std::ranges::count_if(result.kernels, [&](const KernelResult& other) {
    return other.name == kernel.name && other.gpu == kernel.gpu;
  });
  return double(kernel.launches) / double(entries);
}

Part part_of(const KernelResult* before, const KernelResult* after, const Result& old, const Result& now) {
  return {before, after, before == nullptr ? 0 : launches_of(*before, old),
          after == nullptr ? 0 : launches_of(*after, now)};
}

/// Returns why the part has no time to add; empty if it has one, or if its kernel accesses no memory, which
/// has no modelled time on any side.
std::string fault_of(const Part& part) {
  for (const KernelResult* kernel : {part.before, part.after}) {
    if (kernel == nullptr)
      continue;
    if (kernel->launches == 0)
      return fmt::format("how often {} was launched is not known", kernel->name);
    if (!kernel->time && kernel->snapshot.warp_accesses != 0)
      return fmt::format("{} has no time {}", kernel->name, kernel == part.before ? "before" : "after");
  }
  return "";
}

Speed total_on(const std::string& gpu, const Result& before, const Result& after,
               const Difference& difference, double tolerance) {
  std::vector<Part> parts;
  for (const KernelChange& kernel : difference.kernels)
    parts.push_back(part_of(kernel.before, kernel.after, before, after));
  for (const KernelResult* kernel : difference.removed)
    parts.push_back(part_of(kernel, nullptr, before, after));
  for (const KernelResult* kernel : difference.added)
    parts.push_back(part_of(nullptr, kernel, before, after));
  std::erase_if(parts,
                [&](const Part& part) { return (part.before ? part.before : part.after)->gpu != gpu; });
  for (const Part& part : parts)
    if (std::string fault = fault_of(part); !fault.empty())
      return unknown(std::move(fault));
  for (Part& part : parts) { // kernels without accesses have no time
    part.before = part.before && part.before->time ? part.before : nullptr;
    part.after = part.after && part.after->time ? part.after : nullptr;
  }
  Speed speed = speed_of(parts, before.seed == after.seed, tolerance);
  if (std::ranges::any_of(difference.kernels, [&](const KernelChange& kernel) {
        return kernel.after->gpu == gpu && kernel.l2_starts_differ();
      }))
    hold_back(speed);
  return speed;
}

} // namespace

std::string_view text_of(SpeedVerdict verdict) {
  switch (verdict) {
  case SpeedVerdict::same: return "same";
  case SpeedVerdict::faster: return "faster";
  case SpeedVerdict::slower: return "slower";
  case SpeedVerdict::cannot_say: return "cannot say";
  }
  return "";
}

SpeedComparison compare_speed(const Result& before, const Result& after, const Difference& difference,
                              double tolerance) {
  SpeedComparison comparison;
  comparison.tolerance = tolerance;
  std::set<std::string> gpus;
  for (const KernelChange& kernel : difference.kernels) {
    comparison.kernels.push_back(speed_of(kernel, before.seed == after.seed, tolerance));
    gpus.insert(kernel.after->gpu);
  }
  using enum SpeedVerdict;
  std::set<SpeedVerdict> verdicts;
  for (const std::string& gpu : gpus) {
    comparison.totals.push_back({gpu, total_on(gpu, before, after, difference, tolerance)});
    verdicts.insert(comparison.totals.back().speed.verdict);
  }
  for (const SpeedVerdict verdict : {slower, cannot_say, faster, same})
    if (verdicts.contains(verdict)) {
      comparison.verdict = verdict;
      break;
    }
  return comparison;
}

Speed compare_launches(const KernelResult& before, const KernelResult& after, bool same_seed,
                       double tolerance) {
  if (!before.time || !after.time)
    return unknown(fmt::format("its time {} is not known", before.time ? "now" : "before"));
  const Part part = {&before, &after};
  return speed_of({&part, 1}, same_seed, tolerance);
}

std::string percent_interval(const RelativeChange& change) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f} %)", 100 * change.share, 100 * change.low,
                     100 * change.high);
}

std::string describe(const Speed& speed) {
  std::string text(text_of(speed.verdict));
  if (speed.change) {
    const auto time = [](double microseconds) { return duration(Statistic{.mean = microseconds}); };
    const bool is_faster = speed.after_us < speed.before_us;
    const double times = is_faster ? speed.before_us / speed.after_us : speed.after_us / speed.before_us;
    if (std::isfinite(times) &&
        (speed.verdict == SpeedVerdict::faster || speed.verdict == SpeedVerdict::slower))
      text += fmt::format(" {:.2f} ×", times);
    text += fmt::format(": {} → {}, {}", time(speed.before_us), time(speed.after_us),
                        percent_interval(*speed.change));
  }
  return speed.reason.empty() ? text : fmt::format("{}: {}", text, speed.reason);
}

} // namespace warplens::judge
