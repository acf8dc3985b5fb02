// Finds what is notable about a site, from its figures.
#pragma once

#include "result/result.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::report {

enum class Rule {
  contention,          ///< atomics that take turns at a word or a bank, or that the L2 cannot serve faster
  bank_conflicts,      ///< shared memory: passes that another layout would save
  divergent_constants, ///< constant memory: addresses that are served one after the other
  uncoalesced,         ///< sectors that another layout would save
  scattered,           ///< sectors that no layout of the threads can save: the addresses are data
  too_many_accesses,   ///< nothing is wrong with each access, but there are more than can be served
  chained,             ///< loads that cannot overlap, for each needs the one before
  poor_locality,       ///< most sectors come from far and each several times
  streaming,           ///< most sectors come from far, and each once: no cache could help
  from_afar,           ///< most sectors come from far; how often each does is not known
  few_lanes,           ///< most lanes of the warp are idle
  uneven_arrival,      ///< a barrier: warps wait long for the last of their block
  spills,              ///< registers that did not suffice, in local memory
};

struct Finding {
  Rule rule;
  std::string text; ///< one clause with the figures
};

/// Returns the notable findings on a site, derived from figures alone; empty if all is fine. Locality only
/// matters if the layout is not at fault.
std::vector<Finding> findings_on(const SiteResult& site, const KernelResult& kernel);

/// Returns the reason why a site is fine.
std::string praise_of(const SiteResult& site, const KernelResult& kernel);

/// Returns the fewest sectors that could carry the bytes that a request of this site uses; nothing if its
/// bytes are not known.
std::optional<double> needed_sectors_per_request(const SiteResult& site);

/// The share of what a resource serves, or of all waiting, from which on a site is worth a programmer's time.
inline constexpr double notable_work = 0.05;

} // namespace warplens::report
