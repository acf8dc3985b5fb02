// Explains the figures of a site in words.
#pragma once

#include "report/annotated_source.h"

#include <string>
#include <vector>

namespace warplens::report {

enum class Rule {
  bank_conflicts, ///< shared memory: passes that another layout would save
  uncoalesced,    ///< sectors that another layout would save
  poor_locality,  ///< most sectors come from far although the kernel touches each several times
  streaming,      ///< most sectors come from far, and each is touched once: no cache could help
  from_afar,      ///< most sectors come from far; how often each is touched is not known
  few_lanes,      ///< most lanes of the warp are idle
  contention,     ///< atomics that take turns in the L2 hold the kernel up
};

struct Finding {
  Rule rule;
  std::string text; ///< one clause with the figures
};

/// Returns the notable findings on a site, derived from figures alone; empty if all is fine. Locality only
/// matters if the layout is not at fault.
std::vector<Finding> findings_on(const SiteResult& site, const KernelResult& kernel);

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

/// Returns the fewest sectors that could carry the bytes that a request of this site uses; nothing if its
/// bytes are not known.
std::optional<double> needed_sectors_per_request(const SiteResult& site);

} // namespace warplens::report
