// What changed from one result to another.
#pragma once

#include "result/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::report {

/// A figure that was observed in both results. Where it has intervals, `interval` is the half width of the
/// difference's 95 % interval: those of the two means, taken together as independent errors; else 0.
struct FigureChange {
  std::string_view figure; ///< as the result calls it
  double before = 0, after = 0, interval = 0;

  double difference() const { return after - before; }
  bool is_beyond_interval() const;
};

struct SiteChange {
  const SiteResult *before, *after;
  std::vector<FigureChange> figures;
};

struct KernelChange {
  const KernelResult *before, *after;
  std::vector<FigureChange> totals;
  std::vector<SiteChange> sites;             ///< in the order of `after`
  std::vector<const SiteResult*> gone, come; ///< without a counterpart
};

/// Points into the two results.
struct Difference {
  std::vector<KernelChange> kernels;           ///< in the order of `after`
  std::vector<const KernelResult*> gone, come; ///< without a counterpart
};

struct DifferenceOptions {
  std::function<bool(const std::string& name)> wants_kernel; ///< null: all
  double least_share = 0; ///< sites below this share of the latency in both results are left out
};

/// Kernels correspond by name and GPU, the nth of that name to the nth. Sites correspond by file, expression
/// and kind, for lines move: all in order if there are equally many on both sides; else first those whose ids
/// agree, then in order. What is left corresponds by id. Two files correspond if they are the only ones of
/// their name, for trees move, too.
Difference compare(const Result& before, const Result& after, const DifferenceOptions& options);

/// The figures that totals and sites are compared by.
const std::vector<std::string_view>& total_figures();
const std::vector<std::string_view>& site_figures();

} // namespace warplens::report
