// Lock step in a block that runs as loops: applies Warp's rule for fibers lane by lane.
#include "runtime/abi/intrinsics.h"
#include "trace/records.h"

#include <algorithm>
#include <span>

using namespace warplens::cpu;

void __warplens_cpu_choose_threads(std::uint32_t* next, std::uint64_t threads, const std::uint32_t* positions,
                                   std::uint32_t ended) {
  constexpr std::uint32_t at_barrier = 0xffffffff;
  const std::span all(next, threads);
  const bool any_in_lock_step =
      std::ranges::any_of(all, [&](std::uint32_t number) { return positions[number] != at_barrier; });
  if (!any_in_lock_step)
    return; // all threads that have not exited are at barriers, each of which counts all
  for (std::uint64_t first = 0; first < threads; first += warplens::warp_lanes) {
    const auto warp = all.subspan(first, std::min<std::uint64_t>(warplens::warp_lanes, threads - first));
    std::uint32_t earliest = at_barrier;
    for (const std::uint32_t number : warp)
      earliest = std::min(earliest, positions[number]);
    for (std::uint32_t& number : warp)
      if (number != ended && (positions[number] != earliest || earliest == at_barrier))
        number |= waits_mark;
  }
}
