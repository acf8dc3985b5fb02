// The SMs and the memory of a trial, from epoch to epoch.
#pragma once

#include "model/clock/sm.h"
#include "model/memory/memory.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace warplens::model {

/// Runs the SMs until a cycle; they depend on each other through the memory only. Their states do not fit the
/// host's caches, so each SM is visited four times, a few SMs apart: a visit prefetches what the next one
/// reads.
inline void run_sms(std::vector<std::unique_ptr<Sm>>& sms, Memory& memory, Cycle end) {
  const auto count = std::uint32_t(sms.size());
  for (std::uint32_t first = 0; first < count + 3; ++first) {
    if (first < count)
      sms[first]->prefetch_answers(memory.answers(first));
    if (const std::uint32_t second = first - 1; second < count)
      sms[second]->take(memory.answers(second), end);
    if (const std::uint32_t third = first - 2; third < count)
      sms[third]->prefetch_accesses();
    if (const std::uint32_t last = first - 3; last < count && sms[last]->next() < end)
      sms[last]->run_until(end, memory);
  }
}

/// Returns a cycle before which nothing happens.
inline Cycle next_cycle(const std::vector<std::unique_ptr<Sm>>& sms, Memory& memory) {
  // The memory answers a request an epoch after it left its SM, at the earliest.
  Cycle next = memory.next();
  if (next != never)
    next -= std::min(next, memory.shortest());
  for (std::uint32_t number = 0; number < sms.size(); ++number)
    if (memory.answers(number).empty())
      next = std::min(next, sms[number]->next());
    else
      return 0; // an SM may go on in the epoch that follows
  return next;
}

} // namespace warplens::model
