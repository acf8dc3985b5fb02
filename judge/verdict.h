// Explains the figures of a site in words.
#pragma once

#include "judge/costly_lines.h"
#include "judge/findings.h"

#include <string>
#include <vector>

namespace warplens::judge {

/// Returns the findings as clauses, the first of which says why the site is fine if nothing is wrong with it.
std::vector<std::string> clauses_on(const SiteResult& site, const KernelResult& kernel);

/// Returns the same as one text.
std::string verdict_on(const SiteResult& site, const KernelResult& kernel);

/// Returns how the site takes part in the kernel's time, as one clause: by its share of the work of the
/// resource that bounds the kernel, or by how long warps wait for it. The text is empty if the result has no
/// time, if neither is notable, or if a finding says it already.
std::string time_verdict_on(const SiteResult& site, const KernelResult& kernel);

/// Returns the sites of a line that need a verdict: first the one with the highest cost, then the other
/// wasteful ones.
std::vector<const SiteResult*> sites_to_explain(const CostlyLine& line, const KernelResult& kernel);

/// Returns whether a notable part of the line's cost is that of accesses which do more work than they need
/// to.
bool is_at_fault(const CostlyLine& line, const KernelResult& kernel);

} // namespace warplens::judge
