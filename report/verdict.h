// Explains the figures of a site in words.
#pragma once

#include "report/annotated_source.h"
#include "report/findings.h"

#include <string>
#include <vector>

namespace warplens::report {

/// Returns the findings as one clause, or why the site is fine.
std::string verdict_on(const SiteResult& site, const KernelResult& kernel);

/// Returns how the site takes part in the kernel's time, as one clause: by its share of the work of the
/// resource that bounds the kernel, or by how long warps wait for it. The text is empty if the result has no
/// time, if neither is notable, or if a finding says it already.
std::string time_verdict_on(const SiteResult& site, const KernelResult& kernel);

/// The verdicts on a line with sites: first the site with the highest cost, then the other wasteful ones.
struct LineVerdict {
  const SiteResult* site;
  std::string time; ///< time_verdict_on()
  std::string text; ///< verdict_on()
};
std::vector<LineVerdict> verdicts_on(const CostlyLine& line, const KernelResult& kernel);

} // namespace warplens::report
