// Finds what is notable about a site, from its figures.
#pragma once

#include "result/result.h"

#include <optional>
#include <string>
#include <vector>

namespace warplens::judge {

enum class Rule {
  // Rules for accesses:
  contention,          ///< atomics that take turns at a word or a bank, or that the L2 cannot serve faster
  bank_conflicts,      ///< shared memory: passes that another layout would save
  divergent_constants, ///< constant memory: addresses that are served one after the other
  array_of_structs,    ///< neighbouring lanes access neighbouring structs, of which a part is used
  strided,             ///< neighbouring lanes' addresses are a distance apart
  misaligned,          ///< consecutive elements that do not begin where a sector does
  uncoalesced,         ///< sectors that another layout would save, at no one distance
  scattered,           ///< sectors that no layout of the threads can save: the addresses are data
  too_many_accesses,   ///< nothing is wrong with each access, but there are more than can be served
  narrow,              ///< a byte or two for each lane
  uniform,             ///< all lanes read one address of a small array that nothing writes
  chained,             ///< loads that cannot overlap, for each needs the one before
  poor_locality,       ///< most sectors miss the first cache, and each several times
  tile,                ///< likewise, of data that blocks keep in shared memory
  streaming,           ///< most sectors come from DRAM, and each once: no cache could help
  from_l2,             ///< most sectors come from the L2, and each once
  beyond_l1,           ///< most sectors miss the first cache; how often each does is not known
  few_lanes,           ///< most lanes of the warp are idle
  uneven_arrival,      ///< a barrier: warps wait long for the last of their block
  spills,              ///< registers that did not suffice, in local memory
  // Rules for kernels:
  waiting_threads, ///< threads wait for others in a loop: the time is not known
  launch_overhead, ///< what any launch takes is a large part of the time
  idle_sms,        ///< fewer blocks than SMs
  tail,            ///< the last wave of blocks is small
  few_warps,       ///< latency is not hidden, and an SM has room for more warps
  exposed_latency, ///< latency is not hidden by as many warps as an SM has room for
  block_turnover,  ///< blocks end so soon that places for blocks stay empty
  partial_warps,   ///< a block's last warp has few threads
  divergence,      ///< instructions are executed for a part of the lanes
  saturated_pipe,  ///< arithmetic or the issue of instructions bounds the kernel
};
inline constexpr std::size_t rule_count = std::size_t(Rule::saturated_pipe) + 1;

struct Finding {
  Rule rule;
  std::string text;          ///< one clause with the figures
  bool costs_little = false; ///< a cache makes up for it
  /// The share of the kernel's time, or of its latency where there is no time, that could be saved at most if
  /// it were mended: a rough one, for the order.
  double cost = 0;
};

/// Returns whether the finding is about memory traffic or passes that another layout or order would save.
bool is_waste(const Finding& finding);

/// Returns the notable findings on a site, derived from figures alone; empty if all is fine. Locality only
/// matters if the layout is not at fault.
std::vector<Finding> findings_on(const SiteResult& site, const KernelResult& kernel);

/// Returns the reason why a site is fine.
std::string efficiency_text(const SiteResult& site, const KernelResult& kernel);

/// Returns the fewest sectors that could carry the bytes that a request of this site uses; nothing if its
/// bytes are not known.
std::optional<double> needed_sectors_per_request(const SiteResult& site);

/// The share of what a resource serves, or of all waiting, from which on a site is worth a programmer's time.
inline constexpr double notable_work = 0.05;

} // namespace warplens::judge
