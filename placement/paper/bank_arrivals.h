// The requests that arrive at each bank of memory, in an order of the warps as Huang and Li merge their
// traces: the SMs issue side by side, and the warps of each in turn.
#pragma once

#include "model/gpu/gpu.h"
#include "placement/paper/dram_latency.h"
#include "trace/access_source.h"

#include <cstdint>
#include <vector>

namespace warplens::placement {

/// The arrivals at one bank. A request is for the sectors of a line that an access misses in the L2.
struct BankArrivals {
  double hits = 0, misses = 0, conflicts = 0; ///< requests by the state of the row
  double sectors = 0;
  double interval = 0, interval_deviation = 0; ///< between two of them, in steps

  double requests() const { return hits + misses + conflicts; }
};

/// Counts them in the launch's first `blocks` blocks, of which `resident` at a time are on the GPU. In a step
/// each SM issues one access. The L2 begins empty and replaces the line that was used the longest time ago;
/// stores allocate there and do not reach memory. `even`: requests go to the banks in turn, as if controllers
/// spread them evenly, but their rows are the addresses'. The error reports a damaged trace.
Expected<std::vector<BankArrivals>> bank_arrivals(const trace::AccessSource& source,
                                                  const trace::Launch& launch, std::uint64_t blocks,
                                                  std::uint64_t resident, const model::Gpu& gpu, bool even);

/// How long the steps of these arrivals take, and how many requests there can be.
struct ArrivalRate {
  double step_ns = 0;            ///< between two accesses of an SM
  double misses = 1;             ///< of the model's caches, per miss of the L2 here
  double requests_in_flight = 1; ///< of all SMs, at most
};

/// The latency of memory and the states of rows that follow from the arrivals.
struct MemoryLatency {
  double nanoseconds = 0;                      ///< mean of a request (6, 7)
  RowShares rows;                              ///< over all banks
  double arrival_variation = 0;                ///< c_a (10): mean over the requests
  double min_variation = 0, max_variation = 0; ///< of a bank
};

/// Returns the latency by the queue in front of each bank (6 to 10). `literal`: as printed, the latency of a
/// row's state is the time that the bank serves; else that is the time of the bank alone. Where a bank's load
/// is 1 or more, the requests that can be in flight wait there, and in no case more.
MemoryLatency memory_latency(const std::vector<BankArrivals>& banks, const ArrivalRate& rate,
                             const model::Gpu& gpu, Reading reading);

} // namespace warplens::placement
